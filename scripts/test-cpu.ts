/** The CPU time of this process and of all processes that it started, as far as the system reports it. */
import { readdirSync, readFileSync } from 'node:fs';

/** The clock ticks in `/proc`, which are hundredths of a second on every common system. */
const ticksPerSecond = 100;
const readEveryMs = 500;
/** The last known time of each process, because that of a killed browser is not added to its parent's. */
const ticks = new Map<number, number>();

/** Reads the times until the process exits. Does nothing on systems without `/proc`. */
export function watchCpu(): void {
  setInterval(() => readTree(process.pid), readEveryMs).unref();
}

/** Since the start of this process. Processes that ran for less than half a second may be missing. */
export function cpuSeconds(): number {
  readTree(process.pid);
  return ticks.values().reduce((sum, own) => sum + own, 0) / ticksPerSecond;
}

/** Browsers are grandchildren. A child may exit at any time. */
function readTree(pid: number): void {
  try {
    ticks.set(pid, ticksOf(pid));
    for (const child of childrenOf(pid)) readTree(child);
  } catch {}
}

function childrenOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  );
}

/** The fields utime and stime. */
function ticksOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name of the program may contain spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(fields[11]) + Number(fields[12]);
}
