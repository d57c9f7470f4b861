/** Starts servers and load generators, each on its own core if there are two. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { availableParallelism } from 'node:os';

const canPin = availableParallelism() > 1;

export const serverCore = 0;
export const clientCore = 1;

/** Keeps this process and its children off the core of the servers. */
export function pinToClientCore(): void {
  pinTo(String(clientCore));
}

/** `taskset` fails if one of the threads ends meanwhile. */
function pinTo(cores: string, attempts = 3): void {
  if (!canPin) return;
  try {
    execFileSync('taskset', ['-apc', cores, String(process.pid)], { stdio: 'ignore' });
  } catch (error) {
    if (attempts === 1) throw error;
    pinTo(cores, attempts - 1);
  }
}

/** For a program that needs more than one core, such as a browser. */
export async function withAllCores<T>(start: () => Promise<T>): Promise<T> {
  pinTo(`${serverCore},${clientCore}`);
  try {
    return await start();
  } finally {
    pinToClientCore();
  }
}

export function startOn(core: number, command: string[], env: Record<string, string> = {}): ChildProcess {
  const [program = '', ...args] = canPin ? ['taskset', '-c', String(core), ...command] : command;
  return spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit'], env: { ...process.env, ...env } });
}

export function runOn(core: number, command: string[]): string {
  const [program = '', ...args] = canPin ? ['taskset', '-c', String(core), ...command] : command;
  return execFileSync(program, args, { encoding: 'utf8' });
}

export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await ended;
}

/** CPU time of all running threads of a process in microseconds. The usual counter has steps of 10 milliseconds. */
export function cpuOf({ pid }: ChildProcess): number {
  const nanosOf = (thread: string) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]);
  return readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => sum + nanosOf(thread), 0) / 1000;
}

/** Bytes that all threads of a process have written to disk. */
export function diskBytesOf({ pid }: ChildProcess): number {
  return Number(/^write_bytes: (\d+)/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1]);
}

/** Retries until the server responds. Returns the status line. */
export function firstResponse(port: number, path: string): Promise<string> {
  return new Promise((resolve) => {
    const attempt = () => {
      const socket = connect(port, '127.0.0.1');
      socket.once('connect', () =>
        socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`),
      );
      socket.once('data', (data) => {
        socket.destroy();
        resolve(data.toString().split('\r\n', 1)[0] ?? '');
      });
      socket.once('error', () => setTimeout(attempt, 2));
    };
    attempt();
  });
}

export const median = (values: number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

export function quantile(values: readonly number[], at: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * at))] ?? Number.NaN;
}

export function rssOf({ pid }: ChildProcess): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
}
