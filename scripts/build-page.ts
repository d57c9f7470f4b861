/** Builds the page into dist/web: the output of Vite, the service worker, compressed copies, and the documentation. */
import { rename, rm, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'vite';
import { compressFiles } from './build-compressed.ts';
import { buildDocs } from './build-docs.ts';
import { buildServiceWorker } from './build-service-worker.ts';

export async function buildPage(root: string): Promise<void> {
  const startedAt = new Date();
  const unfinished = join(root, `dist/.unfinished-page-${process.pid}`);
  try {
    const configFile = join(root, 'web/vite.config.ts');
    await build({ configFile, build: { outDir: unfinished }, logLevel: 'warn' });
    await buildServiceWorker(root, unfinished);
    await compressFiles(join(unfinished, 'assets'));
    await buildDocs(root, unfinished);
    // What was changed while the build ran is newer than it.
    await utimes(join(unfinished, 'index.html'), startedAt, startedAt);
    await putInPlace(unfinished, join(root, 'dist/web'));
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

/** Replaces the folder atomically, because a server may be about to read the page. */
async function putInPlace(unfinished: string, place: string): Promise<void> {
  const former = `${unfinished}-former`;
  await rename(place, former).catch(ignoreMissing);
  await rename(unfinished, place);
  await rm(former, { recursive: true, force: true });
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
