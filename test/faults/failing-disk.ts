/** A disk that fails: strace answers chosen system calls of the server with an error, for as long as it is asked to. */
import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { eventually } from '../support/eventually.ts';
import { builtCommand, type Program } from '../support/process.ts';

export interface Failure {
  call: 'fsync' | 'pwrite64';
  error: 'EIO' | 'ENOSPC';
  /** Only for these files or folders; for all where there is none. */
  at?: string[];
}

/** The server on such a disk; what was answered by an error is noted in a file, where one is given. */
export function onFailingDisk({ call, error, at = [] }: Failure, note = '/dev/null'): Program {
  if (spawnSync('strace', ['--version']).status !== 0) throw new Error(missing);
  const paths = at.flatMap((path) => ['-P', path]);
  // -D: the tracer is a grandchild, so the server has the id that the test knows. -I: it can be told to let go.
  const tracer = ['-D', '-I', '2', '-f', '-y', '-qq', '-o', note];
  const failure = ['-e', `trace=${call}`, '-e', `inject=${call}:error=${error}`];
  return ['strace', ...tracer, ...failure, ...paths, ...builtCommand];
}

/** The disk is well again. */
export async function mend(pid: number): Promise<void> {
  process.kill(await tracerOf(pid), 'SIGTERM');
  await eventually('strace lets go', async () => (await tracerOf(pid)) === 0);
}

const missing = 'Tests of a failing disk need strace: on Debian, "sudo apt-get install strace".';

async function tracerOf(pid: number): Promise<number> {
  return Number(/^TracerPid:\s+(\d+)$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]);
}
