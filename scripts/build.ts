/** Builds what runs in production: the command as one file, so that a start does not read seventy, the SDK and the page. */
import { fileURLToPath } from 'node:url';
import { buildClient } from './build-client.ts';
import { pageIsFresh } from './build-freshness.ts';
import { buildServer } from './build-server.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

await Promise.all([buildServer(root), buildClient(root)]);
// The page changes seldom and takes much longer; loading Vite alone would slow down every start.
if (!(await pageIsFresh(root))) await (await import('./build-page.ts')).buildPage(root);
