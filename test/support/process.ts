/** The built command as a process: started, used, stopped and killed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createApi } from './api.ts';
import type { CommandResult } from './command-in-process.ts';
import { eventually } from './eventually.ts';
import { createSecrets, metricLabels } from './secrets.ts';

const command = fileURLToPath(new URL('../../bin/poproom.js', import.meta.url));
const built = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const startTimeoutMs = 30_000;

/** The command to run. Tests of packages and images use their own. */
export type Executable = readonly [path: string, ...args: string[]];
export const builtCommand: Executable = [process.execPath, command];

const testDefaults = {
  PORT: '0',
  POPROOM_HOST: '127.0.0.1',
  POPROOM_MIN_FREE_DISK: '0',
  // All tests are the same client, and share a busy machine.
  POPROOM_WORK_LIMIT: '0',
  POPROOM_METRICS: 'true',
};

type Env = Record<string, string>;

/** A test, or a suite whose tests share what is started. */
export type Cleanup = Pick<TestContext, 'after'>;

/** For what the tests of a suite share: started in `before`, and ended in `after`. */
export interface SuiteCleanup extends Cleanup {
  end(): Promise<void>;
}

export function createSuiteCleanup(): SuiteCleanup {
  const cleanups: (() => unknown)[] = [];
  return {
    after: (cleanup = () => undefined) => void cleanups.push(cleanup as () => unknown),
    async end() {
      for (const cleanup of cleanups) await cleanup();
    },
  };
}

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface ServerProcess {
  readonly pid: number;
  readonly port: number;
  readonly url: string;
  readonly api: ReturnType<typeof createApi>;
  /** Its standard output so far. */
  readonly output: () => string;
  readonly errors: () => string;
  /** Sends the signal and waits for the exit. Reads the metrics before SIGTERM. */
  end(signal: NodeJS.Signals): Promise<Exit>;
  /** Sends the signal immediately, without waiting. */
  signal(signal: NodeJS.Signals): void;
  readonly exit: Promise<Exit>;
}

/** Functions that stop the servers in each folder, or in a folder of it. */
const cleanups = new Map<string, (() => Promise<void>)[]>();

/** A temporary folder. After the test, its servers are stopped and it is removed. */
export async function dataFolder(t: Cleanup): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'poproom-process-'));
  cleanups.set(folder, []);
  t.after(async () => {
    // Hooks run in the order of registration, so separate hooks would stop the servers after the folder is removed.
    await Promise.all(cleanups.get(folder)?.map((end) => end()) ?? []);
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  return folder;
}

export async function startProcess(
  t: Cleanup,
  folder: string,
  env: Env = {},
  program = builtCommand,
): Promise<ServerProcess> {
  const { child, output, errors, exit } = launch(['serve'], { POPROOM_DATA_DIR: folder, ...env }, program);
  const secrets = createSecrets();
  const metrics: string[] = [];
  const readMetrics = async () => void (ended || metrics.push(await metricLabels(urlOf(portIn(output())))));
  const end = async (signal: NodeJS.Signals) => {
    if (signal === 'SIGTERM') await readMetrics();
    child.kill(signal);
    return exit;
  };
  const finish = async () => {
    await readMetrics();
    await end('SIGKILL');
    secrets.assertAbsentFrom(metrics.join('\n'), 'the metrics');
    secrets.assertAbsentFrom(output() + errors(), 'the log');
  };
  const [, own] = [...cleanups].find(([root]) => folder === root || folder.startsWith(`${root}/`)) ?? [];
  own?.push(finish);
  t.after(finish);
  let ended: Exit | undefined;
  void exit.then((result) => {
    ended = result;
  });
  const port = await eventually(
    'the server listens',
    () => {
      if (ended) throw new Error(`The server exited during startup: ${JSON.stringify(ended)} ${errors()}`);
      return portIn(output());
    },
    startTimeoutMs,
  );
  const url = urlOf(port);
  return {
    pid: child.pid as number,
    port,
    url,
    api: createApi(() => url, secrets),
    output,
    errors,
    exit,
    signal: (signal) => void child.kill(signal),
    end,
  };
}

const urlOf = (port: number | undefined) => `http://127.0.0.1:${port}`;

/** Runs a command to its end. */
export async function run(
  args: string[],
  env: Env = {},
  program = builtCommand,
): Promise<Exit & { stdout: string; stderr: string }> {
  const { output, errors, exit } = launch(args, env, program);
  const ended = await exit;
  return { ...ended, stdout: output(), stderr: errors() };
}

/** Runs a command to its end in this process, which saves the start of a process. It must not be `serve`. */
export async function runHere(args: string[], env: Env = {}): Promise<CommandResult> {
  // It changes globals, so only tests that use it load it.
  const { runInProcess } = await import('./command-in-process.ts');
  return runInProcess({ args, env: environmentFor(env), cwd: tmpdir(), stdin: undefined });
}

/** Starts a command that the test must stop. Its output is collected, unless `stdout` is a descriptor. */
export function launch(args: string[], env: Env, [path, ...first] = builtCommand, stdout: 'pipe' | number = 'pipe') {
  if (!existsSync(built)) throw new Error('The command is not built yet: run "npm run build" before these tests.');
  // A folder outside of the checkout for ./data.
  const options = { cwd: tmpdir(), env: environmentFor(env) };
  const child = spawn(path, [...first, ...args], { ...options, stdio: ['ignore', stdout, 'pipe'] });
  return { child, output: collect(child, 'stdout'), errors: collect(child, 'stderr'), exit: exitOf(child) };
}

/** A clean environment, so that local settings have no effect. */
function environmentFor(env: Env): Env {
  const { PATH = '' } = process.env;
  return { PATH, ...testDefaults, ...env };
}

async function exitOf(child: ChildProcess): Promise<Exit> {
  // Unlike 'exit', 'close' fires after all output has been read.
  const [code, signal] = await once(child, 'close');
  return { code, signal };
}

function collect(child: ChildProcess, name: 'stdout' | 'stderr'): () => string {
  const chunks: Buffer[] = [];
  child[name]?.on('data', (chunk: Buffer) => chunks.push(chunk));
  return () => Buffer.concat(chunks).toString('utf8');
}

/** The port in the log line `listening`, if it is complete. */
export function portIn(output: string): number | undefined {
  const line = output.split('\n').find((candidate) => /"msg":"listening".*}$/.test(candidate));
  return line === undefined ? undefined : JSON.parse(line).port;
}
