/** A server with a chosen log destination: a pipe that the test reads or not, or a small disk. */
import { spawnSync } from 'node:child_process';
import { closeSync, constants, openSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { createApi } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { builtCommand, dataFolder, type Exit, launch, portIn } from '../support/process.ts';
import { smallDisk } from './small-disk.ts';

export interface LogTarget {
  /** For the server to write to. */
  fd: number;
  /** All that arrived so far. */
  text(): string;
  /** From now on the log cannot be written. */
  fail(): Promise<void> | void;
  recover(): Promise<void> | void;
}

export interface LoggedServer {
  port: number;
  folder: string;
  api: ReturnType<typeof createApi>;
  signal(signal: NodeJS.Signals): void;
  readonly exit: Promise<Exit>;
  /** How many log lines it lost, by its own figures. */
  lostLines(): Promise<number>;
}

export async function startLogged(t: TestContext, log: LogTarget, env = {}): Promise<LoggedServer> {
  const folder = await dataFolder(t);
  const settings = { POPROOM_DATA_DIR: folder, POPROOM_LOG_LEVEL: 'debug', POPROOM_FREE_LIMIT: '0', ...env };
  const { child, exit } = launch(['serve'], settings, builtCommand, log.fd);
  closeSync(log.fd);
  t.after(async () => {
    child.kill('SIGKILL');
    await exit;
  });
  const port = await eventually('the server listens', () => portIn(log.text()));
  const api = createApi(() => `http://127.0.0.1:${port}`);
  return {
    port,
    folder,
    api,
    exit,
    signal: (signal) => void child.kill(signal),
    async lostLines() {
      const { text } = await api.get('/metrics');
      return Number(/^poproom_log_lines_lost_total (\d+)$/m.exec(text)?.[1]);
    },
  };
}

export const completeLines = (text: string) => text.split('\n').slice(0, -1);

/** A pipe whose reader stops reading. */
export async function stuckReader(t: TestContext): Promise<LogTarget> {
  const pipe = await openPipe(t);
  let isStuck = false;
  return {
    fd: pipe.fd,
    text: () => (isStuck ? '' : pipe.text()),
    fail: () => {
      isStuck = true;
    },
    recover: () => {
      isStuck = false;
    },
  };
}

/** A pipe whose reader leaves; another one takes its place. */
export async function missingReader(t: TestContext): Promise<LogTarget> {
  const { fd, text, leave, enter } = await openPipe(t);
  return { fd, text, fail: leave, recover: enter };
}

/** A file on a disk that is full. */
export async function fullDisk(t: TestContext): Promise<LogTarget> {
  const disk = await smallDisk(t, 2);
  const path = join(disk.testPath, 'server.log');
  const fd = openSync(path, 'a');
  return { fd, text: () => readFileSync(path, 'utf8'), fail: () => disk.fill(), recover: disk.free };
}

async function openPipe(t: TestContext) {
  const path = join(await dataFolder(t), 'log');
  spawnSync('mkfifo', [path]);
  const open = () => openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const chunks: Buffer[] = [];
  let reader: number | undefined = open();
  const leave = () => {
    if (reader !== undefined) closeSync(reader);
    reader = undefined;
  };
  t.after(leave);
  return {
    fd: openSync(path, 'w'),
    leave,
    enter: () => {
      reader = open();
    },
    text() {
      if (reader !== undefined) readAll(reader, chunks);
      return Buffer.concat(chunks).toString('utf8');
    },
  };
}

function readAll(reader: number, chunks: Buffer[]): void {
  for (;;) {
    const chunk = Buffer.alloc(65_536);
    const size = readWaiting(reader, chunk);
    if (size === 0) return;
    chunks.push(chunk.subarray(0, size));
  }
}

function readWaiting(reader: number, chunk: Buffer): number {
  try {
    return readSync(reader, chunk);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return 0;
    throw error;
  }
}
