/** `npm test`: sees to what the tests need, builds, and runs them all, or those that are named. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { chromiumMissing, findChromium } from '../test/support/chromium.ts';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));

provideChromium();
run([process.execPath, 'scripts/build.ts']);
run([process.execPath, 'scripts/check-rules.ts']);
const named = process.argv.slice(2);
const files = named.length > 0 ? named : globSync('test/**/*.test.ts').sort();
run([process.execPath, '--test', '--test-concurrency=2', '--test-timeout=120000', ...files]);

/** Where there is none and we may, we install Debian's package. */
function provideChromium(): void {
  if (chromium()) return;
  const mayInstall = process.getuid?.() === 0 && existsSync('/usr/bin/apt-get');
  if (!mayInstall) fail(chromiumMissing);
  console.log('Installing Chromium for the browser tests …');
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  execFileSync('apt-get', ['update', '-qq'], { stdio: 'ignore', env });
  execFileSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'chromium'], { stdio: 'ignore', env });
}

function chromium(): string | undefined {
  try {
    return findChromium();
  } catch (error) {
    return fail((error as Error).message);
  }
}

function fail(why: string): never {
  console.error(why);
  process.exit(1);
}

function run([program = '', ...args]: string[]): void {
  const { status } = spawnSync(program, args, { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
