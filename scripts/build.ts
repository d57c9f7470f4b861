/** Builds what runs in production: the command as one file, so that a start does not read seventy. */
import { rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';

const root = fileURLToPath(new URL('..', import.meta.url));

await rm(`${root}dist`, { recursive: true, force: true });
await build({
  cwd: root,
  input: { main: 'src/cli/main.ts', 'writer-thread': 'src/store/sqlite/writer-thread.ts' },
  platform: 'node',
  // Libraries stay in node_modules, with their licences and their updates.
  external: /^[^./]/,
  output: { dir: 'dist', format: 'esm', entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
  logLevel: 'warn',
});
