/** Measures the speed of a transfer over the last seconds, and estimates the time left. */

const windowMs = 5000;
/** Samples that follow sooner replace each other. */
const everyMs = 100;

export interface TransferRate {
  /** The first number is where the transfer starts, which is not 0 if it is continued. */
  record(bytes: number): void;
  current(): { bytes: number; speed: number; secondsLeft: number | undefined };
  /** Bytes per second since the start. */
  average(): number;
}

interface Sample {
  at: number;
  bytes: number;
}

export function createTransferRate(total: number, now = () => performance.now()): TransferRate {
  const startedAt = now();
  let first: Sample | undefined;
  let samples: Sample[] = [];

  /** The samples of the last seconds, and the one before them. */
  function recent(until: number): Sample[] {
    const firstInside = samples.findIndex(({ at }) => at > until - windowMs);
    return firstInside === -1 ? samples.slice(-1) : samples.slice(Math.max(0, firstInside - 1));
  }

  /** Large parts arrive seconds apart, so a pause counts only if it is longer than the window. */
  function speedNow(): number {
    const last = samples.at(-1);
    if (!last) return 0;
    const until = now() - last.at > windowMs ? now() : last.at;
    const [oldest = last] = recent(until);
    return perSecond(last.bytes - oldest.bytes, until - oldest.at);
  }

  return {
    record(bytes) {
      const sample = { at: now(), bytes };
      first ??= sample;
      const before = samples.at(-2);
      if (before && sample.at - before.at < everyMs) samples.pop();
      samples = [...recent(sample.at), sample];
    },
    current() {
      const { bytes, at } = samples.at(-1) ?? { bytes: 0, at: now() };
      const speed = speedNow();
      const secondsLeft = speed > 0 ? Math.max(1, (total - bytes) / speed - (now() - at) / 1000) : undefined;
      return { bytes, speed, secondsLeft };
    },
    average() {
      const { at, bytes } = first ?? { at: startedAt, bytes: 0 };
      return perSecond(total - bytes, now() - at);
    },
  };
}

const perSecond = (bytes: number, ms: number) => (bytes / Math.max(1, ms)) * 1000;
