/** Builds the page into dist/web: the output of Vite, the service worker, compressed copies, the documentation and the admin page. */
import { appendFile, readFile, rename, rm, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'vite';
import { buildAdmin } from './build-admin.ts';
import { compressFiles } from './build-compressed.ts';
import { buildDocs } from './build-docs.ts';
import { buildServiceWorker } from './build-service-worker.ts';

export async function buildPage(root: string): Promise<void> {
  const startedAt = new Date();
  const unfinished = join(root, `dist/.unfinished-page-${process.pid}`);
  try {
    const configFile = join(root, 'web/vite.config.ts');
    await build({ configFile, build: { outDir: unfinished }, logLevel: 'warn' });
    await addWorkerLicense(root, join(unfinished, 'assets/licenses.md'));
    await buildServiceWorker(root, unfinished);
    await compressFiles(join(unfinished, 'assets'));
    await buildDocs(root, unfinished);
    await buildAdmin(root, unfinished);
    // A file that changed during the build is newer than its result.
    await utimes(join(unfinished, 'index.html'), startedAt, startedAt);
    await putInPlace(unfinished, join(root, 'dist/web'));
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

/** Vite lists the libraries of the page, but not the QR decoder in its worker. */
async function addWorkerLicense(root: string, licenses: string): Promise<void> {
  const folder = join(root, 'node_modules/qr');
  const { name, version, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  const text = await readFile(join(folder, 'LICENSE-MIT'), 'utf8');
  await appendFile(licenses, `\n---\n\n## ${name} - ${version} (${license})\n\n${text.trim()}\n`);
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
