/** How the service is: for people and their monitors (health), supervisors (live) and load balancers (ready). */
import type { BlobStore, Clock, Store } from '../core/ports.ts';

export interface ProbeParts {
  store: Store;
  blobs: BlobStore;
  clock: Clock;
  /** The largest text, for which there should be room. */
  largestContent: number;
  /** Milliseconds since some moment, whatever the clock is set to meanwhile. */
  monotonic: Clock;
  lastSweptAt: () => number;
  sweepEveryMs: number;
  isStopping: () => boolean;
}

export type Probes = ReturnType<typeof createProbes>;

export function createProbes(parts: ProbeParts) {
  const { store, blobs, clock, monotonic, largestContent, lastSweptAt, sweepEveryMs, isStopping } = parts;
  const startedAt = monotonic();
  const stores = { store: shared(() => store.ping()), files: shared(() => blobs.ping()) };

  /** Uploads may be allowed to take the last byte: then there should be one. */
  async function disk(): Promise<void> {
    await Promise.all([blobs.checkSpace(1), store.checkSpace(largestContent)]);
  }

  return {
    async health() {
      const healthy = Object.values(await run(stores)).every(isOk);
      return { healthy, now: clock(), uptime: Math.round(monotonic() - startedAt) / 1000 };
    },

    async ready() {
      const checks = await run({
        ...stores,
        disk,
        sweep: async () => (clock() - lastSweptAt() > 4 * sweepEveryMs ? 'late' : undefined),
        server: async () => (isStopping() ? 'stopping' : undefined),
      });
      return { ready: Object.values(checks).every(isOk), checks };
    },
  };
}

const isOk = (verdict: string) => verdict === 'ok';

/** Resolves with what is wrong, or with nothing; one that rejects is failing, and the client need not know how. */
type Check = () => Promise<unknown>;

/** Who asks while another waits waits along: many who ask at once must not make a remote store slow. */
function shared(check: Check): Check {
  let underWay: Promise<unknown> | undefined;
  return () => {
    underWay ??= check().finally(() => {
      underWay = undefined;
    });
    return underWay;
  };
}

/** A store that hangs is a store that does not answer. */
const patienceMs = 2000;

async function run(checks: Record<string, Check>): Promise<Record<string, string>> {
  const verdicts = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => [name, await verdict(check)] as const),
  );
  return Object.fromEntries(verdicts);
}

async function verdict(check: Check): Promise<string> {
  const { promise: late, resolve } = Promise.withResolvers<string>();
  // After a stall timers come first: an answer that is already there is read before it counts as missing.
  const timer = setTimeout(() => setImmediate(resolve, 'no answer'), patienceMs);
  const answer = check().then(
    (wrong) => String(wrong ?? 'ok'),
    () => 'failing',
  );
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
