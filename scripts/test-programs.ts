/** Programs that tests need and npm does not install. A test file needs one if it imports the module that starts it. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { findChromium, hasPreferredChromium } from '../test/support/chromium.ts';
import { hasHaproxy } from '../test/support/haproxy.ts';
import { findPython } from '../test/support/python.ts';
import { testModulesOf } from './test-imports.ts';
import type { Job } from './test-pool.ts';

interface Program {
  name: string;
  debianPackage: string;
  /** The modules that start it. */
  startedBy: readonly string[];
  isInstalled(): boolean;
}

const programs: readonly Program[] = [
  {
    name: 'Chromium',
    debianPackage: 'chromium-headless-shell',
    startedBy: ['test/support/browser.ts'],
    // Accepts any. If we can install one, it is the fastest.
    isInstalled: () => (mayInstall ? hasPreferredChromium() : findChromium() !== undefined),
  },
  {
    name: 'redis-server',
    debianPackage: 'redis-server',
    startedBy: ['test/support/redis.ts'],
    isInstalled: () => isCommand('redis-server'),
  },
  {
    name: 'HAProxy',
    debianPackage: 'haproxy',
    startedBy: ['test/support/haproxy.ts', 'test/support/proxy.ts'],
    isInstalled: hasHaproxy,
  },
  {
    name: 'nginx',
    debianPackage: 'nginx-light',
    startedBy: ['test/support/proxy.ts'],
    isInstalled: () => isCommand('nginx', '-v'),
  },
  {
    name: 'promtool',
    debianPackage: 'prometheus',
    startedBy: ['test/docs/promtool.slow.test.ts'],
    isInstalled: () => isCommand('promtool'),
  },
  {
    name: 'Python with PyNaCl',
    debianPackage: 'python3-nacl',
    startedBy: ['test/support/python.ts'],
    isInstalled: () => findPython() !== undefined,
  },
  {
    name: 'strace',
    debianPackage: 'strace',
    startedBy: ['test/faults/failing-disk.ts'],
    isInstalled: () => isCommand('strace'),
  },
  {
    name: 'unzip',
    debianPackage: 'unzip',
    startedBy: ['test/support/info-zip.ts'],
    isInstalled: () => isCommand('unzip', '-v'),
  },
];

const mayInstall = process.getuid?.() === 0 && existsSync('/usr/bin/apt-get');

interface Provided {
  /** The jobs without the files that cannot run. */
  jobs: Job[];
  /** Names the missing programs, how to install them, and the files. Empty if nothing is missing. */
  missing: string;
}

/** As root on Debian, installs the programs that these jobs need. */
export function providePrograms(jobs: readonly Job[]): Provided {
  const isMissing = (program: Program) => jobs.some((job) => filesWith(program, job).length > 0) && !provide(program);
  const missing = programs.filter(isMissing);
  const cannotRun = (job: Job) => missing.flatMap((program) => filesWith(program, job));
  const runnable = jobs.map((job) => {
    const left = cannotRun(job);
    return { ...job, files: job.files.filter((file) => !left.includes(file)) };
  });
  return {
    jobs: runnable.filter(({ files }) => files.length > 0),
    missing: missing.map((program) => noticeOf(program, jobs)).join(''),
  };
}

function filesWith({ startedBy, name }: Program, { files, engine }: Job): readonly string[] {
  if (engine === 'distributed' && name === 'redis-server') return files;
  return files.filter((file) => !testModulesOf(file).isDisjointFrom(new Set(startedBy)));
}

function provide(program: Program): boolean {
  if (program.isInstalled()) return true;
  return mayInstall && install(program.debianPackage) && program.isInstalled();
}

function install(debianPackage: string): boolean {
  console.log(`Installing ${debianPackage} for the tests …`);
  const options = { stdio: 'ignore', env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } } as const;
  spawnSync('apt-get', ['update', '-qq'], options);
  return spawnSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', debianPackage], options).status === 0;
}

function noticeOf(program: Program, jobs: readonly Job[]): string {
  const files = [...new Set(jobs.flatMap((job) => filesWith(program, job)))];
  return `Not run, because ${program.name} is missing: ${files.join(', ')}\n${howToInstall(program)}\n`;
}

function howToInstall({ name, debianPackage }: Program): string {
  const command = `To install it on Debian: sudo apt-get install --no-install-recommends ${debianPackage}`;
  return name === 'Chromium' ? `${command}; or set POPROOM_CHROMIUM to the path of a browser.` : command;
}

function isCommand(name: string, option = '--version'): boolean {
  return spawnSync(name, [option]).status === 0;
}
