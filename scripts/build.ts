/** Builds what runs in production: the command as one file, so that a start does not read seventy, and the page. */
import { globSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';
import { pageIsFresh } from './build-freshness.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

await buildServer();
// The page changes seldom and takes much longer; loading Vite alone would slow down every start.
if (!(await pageIsFresh(root))) await (await import('./build-page.ts')).buildPage(root);

async function buildServer(): Promise<void> {
  const former = globSync('dist/*.js', { cwd: root });
  await Promise.all(former.map((file) => rm(root + file, { force: true })));
  await build({
    cwd: root,
    input: { main: 'src/cli/main.ts', 'writer-thread': 'src/store/sqlite/writer-thread.ts' },
    platform: 'node',
    // Libraries stay in node_modules, with their licences and their updates.
    external: /^[^./]/,
    output: { dir: 'dist', format: 'esm', entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
    logLevel: 'warn',
  });
}
