/**
 * `npm test`: sees to what the tests need, builds, and runs them all on the embedded engine, and those of the service
 * on the distributed one too. `npm test -- [--distributed] FILE…` runs the files that are named, on the one or the other.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { chromiumMissing, findChromium, hasFittingChromium } from '../test/support/chromium.ts';
import { haproxyMissing, hasHaproxy } from '../test/support/haproxy.ts';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const { values, positionals: named } = parseArgs({
  allowPositionals: true,
  options: { distributed: { type: 'boolean', default: false } },
});
const { distributed } = values;
const missing = named.filter((file) => !existsSync(file));
if (missing.length > 0) fail(`There is no ${missing.join(', ')}.`);
const mayInstall = process.getuid?.() === 0 && existsSync('/usr/bin/apt-get');

provideChromium();
provide(
  'redis-server',
  isCommand('redis-server'),
  'Tests of the distributed engine need redis-server: on Debian, "sudo apt-get install redis-server".',
);
provide('haproxy', hasHaproxy(), haproxyMissing);
provide(
  'strace',
  isCommand('strace'),
  'Tests of a failing disk need strace: on Debian, "sudo apt-get install strace".',
);
run([process.execPath, 'scripts/build.ts']);
run([process.execPath, 'scripts/check-rules.ts']);
console.log(distributed ? '' : 'On the embedded engine:');
if (!distributed) await test(named.length > 0 ? named : slowestFirst(globSync('test/**/*.test.ts').sort()));
// What failed stands at the end of what is printed.
if (process.exitCode === undefined && (distributed || named.length === 0)) {
  await testOnDistributedEngine(named.length > 0 ? named : globSync('test/{http,live}/*.test.ts').sort());
}

/** So that no long file is left for the end, when the others are done. */
function slowestFirst(files: string[]): string[] {
  const slow = ['nodes', 'hostile', 'faults', 'page'].map((folder) => join('test', folder, ''));
  const rank = (file: string) => {
    const index = slow.findIndex((folder) => file.startsWith(folder));
    return index < 0 ? slow.length : index;
  };
  return files.toSorted((a, b) => rank(a) - rank(b));
}

/** Any browser of the family will do; where we may choose, it is the fastest. */
function provideChromium(): void {
  try {
    if (!hasFittingChromium() && mayInstall) install('chromium-headless-shell');
    if (!findChromium()) fail(chromiumMissing);
  } catch (error) {
    fail((error as Error).message);
  }
}

function provide(debianPackage: string, isThere: boolean, missing: string): void {
  if (!isThere && !(mayInstall && install(debianPackage))) fail(missing);
}

/** Whether Debian's package is there afterwards. */
function install(debianPackage: string): boolean {
  console.log(`Installing ${debianPackage} for the tests …`);
  const options = { stdio: 'ignore', env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } } as const;
  spawnSync('apt-get', ['update', '-qq'], options);
  return spawnSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', debianPackage], options).status === 0;
}

function isCommand(name: string): boolean {
  return spawnSync(name, ['--version']).status === 0;
}

/** The test servers find their stores by the environment: see test/support/engine.ts. */
async function testOnDistributedEngine(files: string[]): Promise<void> {
  const { startRedis } = await import('../test/support/redis.ts');
  const { startS3 } = await import('../test/support/s3.ts');
  console.log('\nOn the distributed engine:');
  const redis = await startRedis();
  try {
    const s3 = await startS3();
    const addresses = { POPROOM_TEST_REDIS: redis.url, POPROOM_TEST_S3: s3.endpoint, POPROOM_TEST_BUCKET: s3.bucket };
    await test(files, { ...s3.env, ...addresses }).finally(s3.stop);
  } finally {
    await redis.stop();
  }
}

/** What fails is told by the exit code, when everything that was started has been stopped. */
async function test(files: string[], env: Record<string, string> = {}): Promise<void> {
  const reporter = pathToFileURL(resolve('scripts/test-reporter.ts')).href;
  const args = ['--test', '--test-concurrency=3', '--test-timeout=120000', `--test-reporter=${reporter}`, ...files];
  // Every file is a process of its own; without the cache, a quarter of its time goes into compiling.
  const cache = { NODE_COMPILE_CACHE: resolve('node_modules/.cache/tests') };
  const child = spawn(process.execPath, args, { stdio: 'inherit', env: { ...process.env, ...cache, ...env } });
  const end = (signal: NodeJS.Signals) => void child.kill(signal);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, end);
  const [status] = await once(child, 'close');
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, end);
  if (status !== 0) process.exitCode = status ?? 1;
}

function fail(why: string): never {
  console.error(why);
  process.exit(1);
}

function run([program = '', ...args]: string[]): void {
  const { status } = spawnSync(program, args, { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
