/** The package as users install it: packed from a copy of this checkout, in an empty folder. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { eventually } from '../support/eventually.ts';
import { portIn } from '../support/process.ts';

const checkout = fileURLToPath(new URL('../..', import.meta.url));
/** Not of a fresh checkout. */
const leftOut = new Set(['node_modules', 'dist', '.git', 'data', 'coverage']);

export interface Installed {
  /** The archive that `npm pack` created. */
  readonly tarball: string;
  /** The project that it is installed in. */
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  /** Runs the installed command and returns its output. */
  poproom(...args: string[]): Promise<string>;
  remove(): Promise<void>;
}

export async function packAndInstall(): Promise<Installed> {
  const place = await mkdtemp(join(tmpdir(), 'poproom-package-'));
  const remove = () => rm(place, { recursive: true, force: true, maxRetries: 5 });
  try {
    const tarball = await pack(place);
    const folder = await install(tarball, join(place, 'project'));
    const env = { ...ownEnvironment(), HOME: place, XDG_CONFIG_HOME: place, XDG_STATE_HOME: place };
    const command = join(folder, 'node_modules/.bin/poproom');
    const poproom = (...args: string[]) => run(command, args, { cwd: folder, env });
    return { tarball, folder, env, poproom, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

export interface ClientPackage {
  readonly tarball: string;
  /** A project that has it in its `node_modules`. */
  readonly folder: string;
  remove(): Promise<void>;
}

/** The package of the SDK, which has no dependencies to install. */
export async function packClient(): Promise<ClientPackage> {
  const place = await mkdtemp(join(tmpdir(), 'poproom-client-'));
  const folder = join(place, 'project');
  const installed = join(folder, 'node_modules/@poproom/client');
  const tarball = await pack(place, './packages/client');
  await mkdir(installed, { recursive: true });
  await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  await run('tar', ['-xzf', tarball, '-C', installed, '--strip-components=1'], { cwd: place, env: ownEnvironment() });
  return { tarball, folder, remove: () => rm(place, { recursive: true, force: true, maxRetries: 5 }) };
}

/** Packs a copy, because packing rebuilds dist/, which other tests use. */
async function pack(place: string, folder = '.'): Promise<string> {
  const copy = join(place, 'checkout');
  await cp(checkout, copy, { recursive: true, filter: (path) => !leftOut.has(path.slice(checkout.length)) });
  await symlink(join(checkout, 'node_modules'), join(copy, 'node_modules'));
  const printed = await npm(copy, 'pack', folder, '--pack-destination', place);
  return join(place, printed.trim().split('\n').at(-1) ?? '');
}

async function install(tarball: string, folder: string): Promise<string> {
  await mkdir(folder);
  await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  await npm(folder, 'install', tarball, '--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund');
  return folder;
}

/** Without a network it gives up, rather than trying on for minutes. */
const retryOptions = [
  '--fetch-retries=1',
  '--fetch-retry-mintimeout=1000',
  '--fetch-timeout=15000',
  '--loglevel=error',
];

export const npm = (cwd: string, ...args: string[]) =>
  run('npm', [...args, ...retryOptions], { cwd, env: ownEnvironment() });

/** Answers what it prints. It gets nothing to read, and three minutes. */
async function run(program: string, args: string[], options: { cwd: string; env: NodeJS.ProcessEnv }): Promise<string> {
  const running = promisify(execFile)(program, args, { ...options, timeout: 180_000 });
  running.child.stdin?.end();
  return (await running).stdout;
}

/** Of what npm tells its scripts, another npm takes all for its own settings: it gets only the way to the registry. */
const toRegistry = /^npm_config_(registry|userconfig|cache|cafile|strict_ssl|(https?_)?proxy|noproxy)$/i;

function ownEnvironment(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name) || toRegistry.test(name));
  const path = [dirname(process.execPath), process.env.PATH].join(delimiter);
  return { ...Object.fromEntries(own), PATH: path };
}

export interface Served {
  readonly url: string;
  stop(): Promise<void>;
}

/** `npx poproom serve`, on a free port. */
export async function serve({ folder, env }: Installed, settings: Record<string, string>): Promise<Served> {
  const quiet = { PORT: '0', POPROOM_HOST: '127.0.0.1', POPROOM_MIN_FREE_DISK: '0', npm_config_loglevel: 'error' };
  const child = spawn('npx', ['--no', 'poproom', 'serve'], {
    cwd: folder,
    env: { ...env, ...quiet, ...settings },
    stdio: ['ignore', 'pipe', 'inherit'],
    // Its own process group, because npx starts the server as a child, and both must end.
    detached: true,
  });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  const ended = once(child, 'close');
  const stop = async () => {
    if (child.exitCode === null) process.kill(-(child.pid as number), 'SIGTERM');
    await ended;
  };
  try {
    const port = await eventually(`the server of ${basename(folder)} listens`, () => portIn(output), 30_000);
    return { url: `http://127.0.0.1:${port}`, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
