/** `prepack`: builds the whole package, even if dist/ is up to date. Afterwards tsc writes the types of the SDK. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildClient } from './build-client.ts';
import { writeLicenses } from './build-notices.ts';
import { buildPage } from './build-page.ts';
import { buildServer } from './build-server.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const outputs = ['client', 'protocol', 'web'];

await Promise.all(outputs.map((folder) => rm(join(root, 'dist', folder), { recursive: true, force: true })));
await writeLicenses(root, (await Promise.all([buildServer(root), buildClient(root)])).flat());
await buildPage(root);
