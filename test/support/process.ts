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
import { eventually } from './eventually.ts';
import { createSecrets, figures } from './secrets.ts';

const command = fileURLToPath(new URL('../../bin/poproom.js', import.meta.url));
const built = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const startsWithinMs = 30_000;

/** What is run; tests of what was made of the command bring their own. */
export type Program = readonly [path: string, ...args: string[]];
export const builtCommand: Program = [process.execPath, command];

const quietDefaults = { PORT: '0', POPROOM_HOST: '127.0.0.1', POPROOM_MIN_FREE_DISK: '0', POPROOM_METRICS: 'true' };

type Env = Record<string, string>;

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
  /** Sends the signal and waits for the end; before SIGTERM, it looks at the figures. */
  end(signal: NodeJS.Signals): Promise<Exit>;
  /** Sends the signal alone, at once. */
  signal(signal: NodeJS.Signals): void;
  readonly exit: Promise<Exit>;
}

/** What ends the servers of each folder. */
const endings = new Map<string, (() => Promise<void>)[]>();

/** A folder that goes when the test is over, after the servers on it. */
export async function dataFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'poproom-process-'));
  endings.set(folder, []);
  t.after(async () => {
    // Hooks run in the order they were made: left to hooks of their own, the servers would outlive their folder.
    await Promise.all(endings.get(folder)?.map((end) => end()) ?? []);
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  return folder;
}

export async function startProcess(
  t: TestContext,
  folder: string,
  env: Env = {},
  program = builtCommand,
): Promise<ServerProcess> {
  const { child, output, errors, exit } = launch(['serve'], { POPROOM_DATA_DIR: folder, ...env }, program);
  const secrets = createSecrets();
  const counted: string[] = [];
  const count = async () => void (ended || counted.push(await figures(urlOf(portIn(output())))));
  const end = async (signal: NodeJS.Signals) => {
    if (signal === 'SIGTERM') await count();
    child.kill(signal);
    return exit;
  };
  const finish = async () => {
    await count();
    await end('SIGKILL');
    secrets.assertAbsentFrom(counted.join('\n'), 'the figures');
    secrets.assertAbsentFrom(output() + errors(), 'the log');
  };
  endings.get(folder)?.push(finish);
  t.after(finish);
  let ended: Exit | undefined;
  void exit.then((how) => {
    ended = how;
  });
  const port = await eventually(
    'the server listens',
    () => {
      if (ended) throw new Error(`The server ended at its start: ${JSON.stringify(ended)} ${errors()}`);
      return portIn(output());
    },
    startsWithinMs,
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

/** Starts a command, to be ended by the test. Its output is collected, unless there is a descriptor to write it to. */
export function launch(args: string[], env: Env, [path, ...first] = builtCommand, stdout: 'pipe' | number = 'pipe') {
  if (!existsSync(built)) throw new Error('The command is not built yet: run "npm run build" before these tests.');
  // Nothing of the tester's own settings gets in, and a stray ./data lands in no checkout.
  const { PATH = '' } = process.env;
  const options = { cwd: tmpdir(), env: { PATH, ...quietDefaults, ...env } };
  const child = spawn(path, [...first, ...args], { ...options, stdio: ['ignore', stdout, 'pipe'] });
  return { child, output: collect(child, 'stdout'), errors: collect(child, 'stderr'), exit: exitOf(child) };
}

async function exitOf(child: ChildProcess): Promise<Exit> {
  // After 'close', unlike after 'exit', all that it wrote has been read.
  const [code, signal] = await once(child, 'close');
  return { code, signal };
}

function collect(child: ChildProcess, name: 'stdout' | 'stderr'): () => string {
  const chunks: Buffer[] = [];
  child[name]?.on('data', (chunk: Buffer) => chunks.push(chunk));
  return () => Buffer.concat(chunks).toString('utf8');
}

/** The one that a server says it listens on. */
export function portIn(output: string): number | undefined {
  const line = output.split('\n').find((candidate) => candidate.includes('"msg":"listening"'));
  return line === undefined ? undefined : JSON.parse(line).port;
}
