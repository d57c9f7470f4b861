/** Builds what runs in production: the command in few files, the SDK, the page and the API documentation. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildClient } from './build-client.ts';
import { buildDocs } from './build-docs.ts';
import { pageIsFresh } from './build-freshness.ts';
import { writeLicenses } from './build-notices.ts';
import { buildServer } from './build-server.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

await writeLicenses(root, (await Promise.all([buildServer(root), buildClient(root)])).flat());
// The page rarely changes, and loading Vite alone would slow down every start. The documentation is built quickly.
if (await pageIsFresh(root)) await buildDocs(root, join(root, 'dist/web'));
else await (await import('./build-page.ts')).buildPage(root);
