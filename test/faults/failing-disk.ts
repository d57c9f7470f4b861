/** A failing disk: strace makes chosen system calls of the server fail until it is stopped. */
import { spawn, spawnSync } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { eventually } from '../support/eventually.ts';
import { builtCommand, type Executable } from '../support/process.ts';

export interface InjectedFault {
  call: 'fsync' | 'pwrite64' | 'pwritev' | 'write' | 'writev';
  error: 'EIO' | 'ENOSPC';
  /** Only for these files or folders. Default: all. */
  at?: string[];
}

/** A server on such a disk. strace writes the failed calls to `note`. */
export function onFailingDisk(failure: InjectedFault, note = '/dev/null'): Executable {
  // -D runs strace as a grandchild, so the child process is the server.
  return ['strace', '-D', ...optionsFor(failure, note), ...builtCommand];
}

/** Injects a fault into a running server, for files whose names are not known at its start. */
export async function injectFault(pid: number, failure: InjectedFault, note: string): Promise<void> {
  const tracer = spawn('strace', ['-p', String(pid), ...optionsFor(failure, note)], { stdio: 'ignore' });
  await eventually('strace traces every thread', async () => {
    if (tracer.exitCode !== null) throw new Error(ptraceDenied);
    return (await tracersOf(pid)).every((tracing) => tracing === tracer.pid);
  });
}

function optionsFor({ call, error, at = [] }: InjectedFault, note: string): string[] {
  if (spawnSync('strace', ['--version']).status !== 0) throw new Error(missing);
  const paths = at.flatMap((path) => ['-P', path]);
  // -I 2 allows SIGTERM to detach strace.
  const tracer = ['-I', '2', '-f', '-y', '-qq', '-o', note];
  return [...tracer, '-e', `trace=${call}`, '-e', `inject=${call}:error=${error}`, ...paths];
}

/** Stops injecting faults. strace detaches from one thread after the other. */
export async function repairDisk(pid: number): Promise<void> {
  process.kill(await tracerOf(pid), 'SIGTERM');
  await eventually('strace detaches', async () => (await tracersOf(pid)).every((tracing) => tracing === 0));
}

const missing = 'Tests of a failing disk need strace: on Debian, "sudo apt-get install strace".';
const ptraceDenied =
  'strace may not trace a running process. Run as root, or first run "sudo sysctl -w kernel.yama.ptrace_scope=0".';

const tracerOf = (pid: number) => tracerIn(`/proc/${pid}/status`);

/** The tracer of each thread; 0 for none. Other threads than the main one write files. */
async function tracersOf(pid: number): Promise<number[]> {
  const threads = await readdir(`/proc/${pid}/task`);
  return Promise.all(threads.map((thread) => tracerIn(`/proc/${pid}/task/${thread}/status`)));
}

async function tracerIn(status: string): Promise<number> {
  return Number(/^TracerPid:\s+(\d+)$/m.exec(await readFile(status, 'utf8'))?.[1]);
}
