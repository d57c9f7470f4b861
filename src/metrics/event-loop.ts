/** Measures how long the event loop makes timers wait. */
import type { Distribution } from './family.ts';

const everyMs = 100;

/** Returns a function that ends the measurement. */
export function measureDelay(delays: Distribution): () => void {
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    delays.observe(Math.max(0, now - last - everyMs) / 1000);
    last = now;
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}

/** Seconds in which the event loop was busy, since the start of the process. */
export function activeSeconds(): number {
  const { performance } = process.getBuiltinModule('node:perf_hooks');
  return performance.eventLoopUtilization().active / 1000;
}
