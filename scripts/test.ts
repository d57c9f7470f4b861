/**
 * `npm test`: installs what the tests need, builds, and runs all of them on the embedded engine and those of the API
 * on the distributed engine too. `npm test -- [--distributed] FILE…` runs only the named files, on one engine.
 * `npm run test:quick` leaves out the slow folders and the second engine.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { chromiumMissing, findChromium, hasPreferredChromium } from '../test/support/chromium.ts';
import { haproxyMissing, hasHaproxy } from '../test/support/haproxy.ts';
import { findPython, pyNaClMissing } from '../test/support/python.ts';
import { type Job, runPool } from './test-pool.ts';

/**
 * Tests of HTTP and the live channel that do not depend on the store, so one engine is enough: syntax, headers, documents
 * and timers. The suites in test/contract prove that the stores of both engines behave the same.
 */
const engineIndependent = new RegExp(
  `^test/(http/(${[
    'asyncapi',
    'bodies',
    'clients',
    'conformance',
    'cross-site',
    'disconnects',
    'docs-page',
    'errors',
    'held-bodies',
    'hostile-uploads',
    'links',
    'malformed-http',
    'openapi',
    'page',
    'pipelining',
    'plain-text',
    'sub-path',
    'timeouts',
    'tls',
    'tiny-chunks',
    'tus-protocol',
    'upgrades',
    'upload-names',
    'zip-format',
  ].join('|')})|live/(bounds|events|heartbeat|hostile|slow-readers))\\.test\\.ts$`,
);

/** Enough to share most of the start, and few enough to spread them evenly over the cores. */
const filesPerProcess = 8;
/** Files that measure or change their process, or take long. */
const ownProcess =
  /^test\/(blobs|faults|hostile|nodes|package|process|redis|store|text)\/|^test\/http\/(disconnects|held-bodies|tiny-chunks)|slow-readers/;

/** They take most of the time: pages in a browser, several servers, faults, attacks and packages. */
const isSlow = (file: string) => /^test\/(browser|faults|hostile|nodes|package|page|process)\//.test(file);

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const { values, positionals: named } = parseArgs({
  allowPositionals: true,
  options: { distributed: { type: 'boolean', default: false }, quick: { type: 'boolean', default: false } },
});
const missing = named.filter((file) => !existsSync(file));
if (missing.length > 0) fail(`These files do not exist: ${missing.join(', ')}.`);
const mayInstall = process.getuid?.() === 0 && existsSync('/usr/bin/apt-get');

provideChromium();
provide(
  'redis-server',
  isCommand('redis-server'),
  'Tests of the distributed engine need redis-server: on Debian, "sudo apt-get install redis-server".',
);
provide('haproxy', hasHaproxy(), haproxyMissing);
provide(
  'nginx-light',
  isCommand('nginx', '-v'),
  'The test of the nginx sample needs nginx: on Debian, "sudo apt-get install nginx-light".',
);
provide('python3-nacl', findPython() !== undefined, pyNaClMissing);
provide(
  'strace',
  isCommand('strace'),
  'Tests of a failing disk need strace: on Debian, "sudo apt-get install strace".',
);
provide(
  'unzip',
  isCommand('unzip', '-v'),
  'Tests of zip archives need unzip: on Debian, "sudo apt-get install unzip".',
);
run([process.execPath, 'scripts/build.ts']);
run([process.execPath, 'scripts/check-rules.ts']);
const jobs = named.length > 0 ? namedJobs() : allJobs();
const stores = jobs.some(({ engine }) => engine === 'distributed') ? await startStores() : undefined;
const hasPassed = await runPool(jobs, stores?.env ?? {}).finally(stores?.stop);
if (!hasPassed) process.exitCode = 1;

function namedJobs(): Job[] {
  return jobsOf(named, values.distributed ? 'distributed' : 'embedded');
}

function allJobs(): Job[] {
  const isChosen = (file: string) => !(values.quick && isSlow(file));
  const isForBoth = (file: string) => !values.quick && !engineIndependent.test(file);
  const embedded = jobsOf(globSync('test/**/*.test.ts').filter(isChosen), 'embedded');
  const distributed = jobsOf(globSync('test/{http,live}/*.test.ts').filter(isForBoth), 'distributed');
  return [...embedded, ...distributed].toSorted((a, b) => rankOf(a) - rankOf(b));
}

/** Groups files of the same folder, unless they measure or change their whole process. */
function jobsOf(files: readonly string[], engine: Job['engine']): Job[] {
  const byFolder = Object.groupBy(files.toSorted(), (file) => (ownProcess.test(file) ? file : dirname(file)));
  return Object.values(byFolder).flatMap((group = []) => {
    const processes = Math.ceil(group.length / filesPerProcess);
    const size = Math.ceil(group.length / processes);
    return Array.from({ length: processes }, (_, i) => ({ files: group.slice(i * size, (i + 1) * size), engine }));
  });
}

/** The slowest first, so that no long job runs alone at the end. */
function rankOf({ files: [file = ''] }: Job): number {
  const slow = ['hostile', 'nodes', 'page', 'faults', 'package', 'cli', 'store', 'process'];
  const index = slow.findIndex((folder) => file.startsWith(join('test', folder, '')));
  return index < 0 ? slow.length : index;
}

/** Accepts any Chromium. If we can install one, it is the fastest. */
function provideChromium(): void {
  try {
    if (!hasPreferredChromium() && mayInstall) install('chromium-headless-shell');
    if (!findChromium()) fail(chromiumMissing);
  } catch (error) {
    fail((error as Error).message);
  }
}

function provide(debianPackage: string, isInstalled: boolean, missing: string): void {
  if (!isInstalled && !(mayInstall && install(debianPackage))) fail(missing);
}

/** Returns whether the installation succeeded. */
function install(debianPackage: string): boolean {
  console.log(`Installing ${debianPackage} for the tests …`);
  const options = { stdio: 'ignore', env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } } as const;
  spawnSync('apt-get', ['update', '-qq'], options);
  return spawnSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', debianPackage], options).status === 0;
}

function isCommand(name: string, option = '--version'): boolean {
  return spawnSync(name, [option]).status === 0;
}

/** One Redis and one S3 server for all files on the distributed engine; see test/support/engine.ts. */
async function startStores(): Promise<{ env: Record<string, string>; stop: () => Promise<void> }> {
  const { startRedis } = await import('../test/support/redis.ts');
  const { startS3 } = await import('../test/support/s3.ts');
  const [redis, s3] = await Promise.all([startRedis(), startS3()]);
  const addresses = { POPROOM_TEST_REDIS: redis.url, POPROOM_TEST_S3: s3.endpoint, POPROOM_TEST_BUCKET: s3.bucket };
  return {
    env: { ...s3.env, ...addresses },
    stop: async () => {
      await Promise.all([redis.stop(), s3.stop()]);
    },
  };
}

function fail(message: string): never {
  console.error(message);
  process.exit(1);
}

function run([program = '', ...args]: string[]): void {
  const { status } = spawnSync(program, args, { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
