/** `npm test`: sees to what the tests need, builds, and runs them all, or those that are named. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));

provideChromium();
run([process.execPath, 'scripts/build.ts']);
run([process.execPath, 'scripts/check-rules.ts']);
const named = process.argv.slice(2);
const files = named.length > 0 ? named : globSync('test/**/*.test.ts').sort();
run([process.execPath, '--test', '--test-concurrency=2', '--test-timeout=120000', ...files]);

/** The browser tests run on Debian's package; where we may, we install it. */
function provideChromium(): void {
  if (existsSync('/usr/bin/chromium')) return;
  const mayInstall = process.getuid?.() === 0 && existsSync('/usr/bin/apt-get');
  if (!mayInstall) {
    console.error('The tests need Chromium at /usr/bin/chromium; on Debian: sudo apt-get install chromium');
    process.exit(1);
  }
  console.log('Installing Chromium for the browser tests …');
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  execFileSync('apt-get', ['update', '-qq'], { stdio: 'ignore', env });
  execFileSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'chromium'], { stdio: 'ignore', env });
}

function run([program = '', ...args]: string[]): void {
  const { status } = spawnSync(program, args, { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
