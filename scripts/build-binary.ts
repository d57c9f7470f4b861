/**
 * Builds one file that needs nothing beside it: the command with its libraries, the page, and the Node that runs this.
 * Into dist/bin, or the folder that is named.
 */
import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleCommand, bundleThread } from './build-bundle.ts';
import { buildDocs } from './build-docs.ts';
import { pageIsFresh } from './build-freshness.ts';
import { noticesFor } from './build-notices.ts';
import { buildPage } from './build-page.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const [folder = join(root, 'dist/bin')] = process.argv.slice(2);
const executable = resolve(folder, process.platform === 'win32' ? 'poproom.exe' : 'poproom');

if (await pageIsFresh(root)) await buildDocs(root, join(root, 'dist/web'));
else await buildPage(root);
const parts = await mkdtemp(join(tmpdir(), 'poproom-binary-'));
try {
  const { main, licenses } = await bundleCommand(root, parts);
  const thread = await bundleThread(root, parts);
  await mkdir(folder, { recursive: true });
  await assemble(main, { 'writer-thread.cjs': thread, ...pageAssets() });
  await writeFile(join(folder, 'licenses.md'), await noticesFor([licenses, join(root, 'dist/web/assets/licenses.md')]));
} finally {
  await rm(parts, { recursive: true, force: true });
}

/** Under the names that src/http/page/source.ts looks for. */
function pageAssets(): Record<string, string> {
  const paths = globSync('web/{*.html,assets/*}', { cwd: join(root, 'dist') });
  return Object.fromEntries(paths.map((path) => [path.replaceAll('\\', '/'), join(root, 'dist', path)]));
}

async function assemble(main: string, assets: Record<string, string>): Promise<void> {
  const config = join(parts, 'sea.json');
  const options = { mainFormat: 'module', useCodeCache: true, disableExperimentalSEAWarning: true };
  const node = await smallerNode(join(parts, 'node'));
  await writeFile(config, JSON.stringify({ main, output: executable, executable: node, assets, ...options }));
  run(process.execPath, ['--build-sea', config]);
  // The signature that Node came with no longer fits, and Apple's systems run nothing with a wrong one.
  if (process.platform === 'darwin') run('codesign', ['--sign', '-', '--force', executable]);
}

/** Removes debug symbols, a fifth of the size on Linux. Elsewhere Node has none, or a signature covers them. */
async function smallerNode(copy: string): Promise<string> {
  if (process.platform !== 'linux') return process.execPath;
  await copyFile(process.execPath, copy);
  return spawnSync('strip', [copy]).status === 0 ? copy : process.execPath;
}

function run(program: string, args: string[]): void {
  const { status, error } = spawnSync(program, args, { stdio: 'inherit' });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} failed`, { cause: error });
}
