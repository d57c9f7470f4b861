/** The CPU time of this process and of all processes that it started, as far as the system reports it. */
import { readdirSync, readFileSync } from 'node:fs';

/** The clock ticks in `/proc`, which are hundredths of a second on every common system. */
const ticksPerSecond = 100;

/** Zero on systems without `/proc`. */
export function cpuSeconds(): number {
  try {
    return treeOf(process.pid) / ticksPerSecond;
  } catch {
    return 0;
  }
}

/** Browsers are grandchildren, and still run when a file ends. */
function treeOf(pid: number): number {
  const children = childrenOf(pid).reduce((sum, child) => sum + ticksOrNone(child), 0);
  return ticksOf(pid) + children;
}

/** A child may exit at any time. */
function ticksOrNone(pid: number): number {
  try {
    return treeOf(pid);
  } catch {
    return 0;
  }
}

function childrenOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  );
}

/** The fields utime, stime, cutime and cstime: its own time, and that of its children that have exited. */
function ticksOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name of the program may contain spaces.
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  return fields.slice(11, 15).reduce((sum, ticks) => sum + ticks, 0);
}
