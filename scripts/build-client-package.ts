/** `prepack` of packages/client: builds the SDK as a package of its own, with its types and all licences. */
import { execFileSync } from 'node:child_process';
import { cp, glob, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildClient } from './build-client.ts';
import { licensesOf } from './build-notices.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = join(root, 'packages/client');
const dist = join(folder, 'dist');

await rm(dist, { recursive: true, force: true });
const modules = await buildClient(root, join(dist, 'client'));
await writeFile(join(dist, 'licenses.md'), await licensesOf(modules));
await cp(join(root, 'LICENSE'), join(folder, 'LICENSE'));
const tsc = join(root, 'node_modules/typescript/bin/tsc');
execFileSync(process.execPath, [tsc, '-p', join(root, 'tsconfig.client.json'), '--outDir', dist], { stdio: 'inherit' });
await removeUnusedTypes(['index', 'lite'].map((name) => join(dist, `client/${name}.d.ts`)));

/** tsc also writes the declarations of modules that no public type refers to. */
async function removeUnusedTypes(entries: readonly string[]): Promise<void> {
  const used = new Set<string>(entries);
  for (const file of used) {
    const imports = (await readFile(file, 'utf8')).matchAll(/(?:from|import\()\s*["'](\.[^"']+)\.ts["']/g);
    for (const [, path = ''] of imports) used.add(join(dirname(file), `${path}.d.ts`));
  }
  const all = await Array.fromAsync(glob('**/*.d.ts', { cwd: dist }), (path) => join(dist, path));
  await Promise.all(all.filter((file) => !used.has(file)).map((file) => rm(file)));
}
