/** Time that passes when the test says so, with timers. */

export function createTime() {
  const timers = new Set<{ at: number; callback: () => void }>();
  const time = {
    now: 0,
    schedule(callback: () => void, ms: number): () => void {
      const timer = { at: time.now + ms, callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    advance(ms: number): void {
      const until = time.now + ms;
      for (let next = firstDue(until); next; next = firstDue(until)) {
        timers.delete(next);
        time.now = Math.max(time.now, next.at);
        next.callback();
      }
      time.now = until;
    },
  };
  const firstDue = (until: number) =>
    [...timers].filter(({ at }) => at <= until).sort((one, other) => one.at - other.at)[0];
  return time;
}
