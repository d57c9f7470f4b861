/** How the service is: for people and their monitors (health), supervisors (live) and load balancers (ready). */
import { PoproomError } from '../../core/errors.ts';
import type { BlobStore, Clock, Store } from '../../core/ports.ts';

export interface ProbeParts {
  store: Store;
  blobs: BlobStore;
  /** Of all files; 0 for no limit. */
  maxStoredBytes: number;
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
  const { store, blobs, maxStoredBytes, clock, monotonic, largestContent, lastSweptAt, sweepEveryMs, isStopping } =
    parts;
  const startedAt = monotonic();
  const stores = { store: shared(() => store.ping()), files: shared(() => blobs.ping()) };

  /** Without room for files the server is still ready for texts, so this does not decide whether it is ready. */
  async function uploads(): Promise<string | undefined> {
    try {
      await blobs.checkSpace(1);
    } catch (error) {
      if (error instanceof PoproomError && error.code === 'STORAGE_FULL') return 'full';
      throw error;
    }
    if (maxStoredBytes === 0) return undefined;
    const { stored, reserved } = await store.storage.usage();
    return stored + reserved >= maxStoredBytes ? 'full' : undefined;
  }

  const sharedUploads = shared(uploads);

  return {
    async health() {
      const healthy = Object.values(await run(stores)).every(isOk);
      return { healthy, now: clock(), uptime: Math.round(monotonic() - startedAt) / 1000 };
    },

    async ready() {
      const checks = await run({
        ...stores,
        disk: () => store.checkSpace(largestContent),
        uploads: sharedUploads,
        sweep: async () => (clock() - lastSweptAt() > 8 * sweepEveryMs ? 'late' : undefined),
        server: async () => (isStopping() ? 'stopping' : undefined),
      });
      const { uploads: _, ...needed } = checks;
      return { ready: Object.values(needed).every(isOk), checks };
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
