/** Time on a busy machine: the CPU time of synchronous work, and the delays by other processes. */
import { monitorEventLoopDelay } from 'node:perf_hooks';

/** Other processes still slow down the caches and the memory, so one slow run proves nothing. */
const maxRuns = 10;

/** In milliseconds: of the first run below the limit, or of the fastest one. */
export function cpuMsOf(work: () => void, limitMs: number): number {
  let fastest = Number.POSITIVE_INFINITY;
  for (let run = 0; run < maxRuns && fastest >= limitMs; run++) {
    const startedAt = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(startedAt);
    fastest = Math.min(fastest, (user + system) / 1000);
  }
  return fastest;
}

const resolutionMs = 10;

/**
 * Measures how late the timers of this process are. It waits most of the time, so other processes had the core. The
 * returned function ends the measurement and returns milliseconds.
 */
export function watchDelay(): () => { p99: number; max: number } {
  const delay = monitorEventLoopDelay({ resolution: resolutionMs });
  delay.enable();
  return () => {
    delay.disable();
    const inMs = (ns: number) => ns / 1e6 - resolutionMs;
    return { p99: inMs(delay.percentile(99)), max: inMs(delay.max) };
  };
}
