/** Builds the command and the writer's thread into dist/, for a Node that finds the libraries in node_modules. */
import { globSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'rolldown';
import { lateBuiltins } from './late-builtins.ts';

/**
 * Bundles the modules that every server start needs into a few files instead of nineteen: each file costs half a
 * millisecond. Modules that the writer thread shares, or that only some commands need, stay separate.
 */
const groups = [
  {
    name: 'engine',
    test: new RegExp(
      `src/(${[
        'core/(?!errors|migration)[^/]+',
        'store/sqlite/(?!writer-thread|operations|rows|restore|connection|disk-reserve)[^/]+',
        'blobs/(?!s3|turns)[^/]+',
        'bus/local',
        'engine',
        'secret',
        'live/(wire|close-codes)',
      ].join('|')})\\.ts$`,
    ),
  },
  { name: 'command', test: /src\/cli\/(command|commands|usage-error|said-pin)\.ts$/ },
];

export async function buildServer(root: string): Promise<void> {
  const former = globSync('dist/*.js', { cwd: root });
  const { output } = await build({
    cwd: root,
    input: { main: 'src/cli/main.ts', 'writer-thread': 'src/store/sqlite/writer-thread.ts' },
    platform: 'node',
    // Libraries stay in node_modules, with their licences and their updates, except those that the SDK inlines.
    external: /^(?!@noble\/)[^./]/,
    output: {
      dir: 'dist',
      format: 'esm',
      entryFileNames: '[name].js',
      chunkFileNames: '[name]-[hash].js',
      codeSplitting: { groups },
    },
    plugins: [lateBuiltins],
    logLevel: 'warn',
  });
  // Not before: a build that fails leaves what was there.
  const built = new Set(output.map(({ fileName }) => join('dist', fileName)));
  const stale = former.filter((file) => !built.has(file));
  await Promise.all(stale.map((file) => rm(join(root, file), { force: true })));
}
