/** A failing disk: strace makes chosen system calls of the server fail until it is stopped. */
import { spawn, spawnSync } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { eventually } from '../support/eventually.ts';
import { builtCommand, type Executable } from '../support/process.ts';

export interface Failure {
  call: 'fsync' | 'pwrite64' | 'write' | 'writev';
  error: 'EIO' | 'ENOSPC';
  /** Only for these files or folders; for all where there is none. */
  at?: string[];
}

/** The server on such a disk; what was answered by an error is noted in a file, where one is given. */
export function onFailingDisk(failure: Failure, note = '/dev/null'): Executable {
  // -D: the tracer is a grandchild, so the server has the id that the test knows.
  return ['strace', '-D', ...optionsFor(failure, note), ...builtCommand];
}

/** For a server that runs, and for a file that nobody could name before: what is written down of an upload. */
export async function failFromNowOn(pid: number, failure: Failure, note: string): Promise<void> {
  const tracer = spawn('strace', ['-p', String(pid), ...optionsFor(failure, note)], { stdio: 'ignore' });
  await eventually('strace has hold of every thread', async () => {
    if (tracer.exitCode !== null) throw new Error(notAllowed);
    return (await tracersOf(pid)).every((tracing) => tracing === tracer.pid);
  });
}

function optionsFor({ call, error, at = [] }: Failure, note: string): string[] {
  if (spawnSync('strace', ['--version']).status !== 0) throw new Error(missing);
  const paths = at.flatMap((path) => ['-P', path]);
  // -I: it can be told to let go.
  const tracer = ['-I', '2', '-f', '-y', '-qq', '-o', note];
  return [...tracer, '-e', `trace=${call}`, '-e', `inject=${call}:error=${error}`, ...paths];
}

/** The disk is well again. */
export async function mend(pid: number): Promise<void> {
  process.kill(await tracerOf(pid), 'SIGTERM');
  await eventually('strace lets go', async () => (await tracerOf(pid)) === 0);
}

const missing = 'Tests of a failing disk need strace: on Debian, "sudo apt-get install strace".';
const notAllowed =
  'strace may not look into a process that runs: try as root, or after "sudo sysctl -w kernel.yama.ptrace_scope=0".';

const tracerOf = (pid: number) => tracerIn(`/proc/${pid}/status`);

/** Of each of its threads: files are written by others than the first. */
async function tracersOf(pid: number): Promise<number[]> {
  const threads = await readdir(`/proc/${pid}/task`);
  return Promise.all(threads.map((thread) => tracerIn(`/proc/${pid}/task/${thread}/status`)));
}

async function tracerIn(status: string): Promise<number> {
  return Number(/^TracerPid:\s+(\d+)$/m.exec(await readFile(status, 'utf8'))?.[1]);
}
