/** The memory and open files of a process, from /proc (Linux only). */
import { readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';

/** The targets of its open descriptors: paths, and names such as `socket:[123]`. */
export async function openHandles(pid: number): Promise<string[]> {
  const folder = `/proc/${pid}/fd`;
  const handles = await Promise.all((await readdir(folder)).map((fd) => readlink(join(folder, fd)).catch(() => '')));
  return handles.filter(Boolean);
}

export async function openSockets(pid: number): Promise<number> {
  return (await openHandles(pid)).filter((handle) => handle.startsWith('socket:')).length;
}

/** Its current resident memory, in MiB. */
export const residentMemory = (pid: number) => memoryOf(pid, /^VmRSS:\s+(\d+) kB$/m);

/** Its peak resident memory, in MiB. */
export const peakMemory = (pid: number) => memoryOf(pid, /^VmHWM:\s+(\d+) kB$/m);

async function memoryOf(pid: number, line: RegExp): Promise<number> {
  return Number(line.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}
