/** The CPU time of synchronous work. Unlike the real time, it does not include that of other processes. */

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
