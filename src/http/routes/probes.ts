/** State of the service: for monitoring (health), supervisors (live) and load balancers (ready). */
import { singleFlight } from '../../core/concurrency.ts';
import { hasCode } from '../../core/errors.ts';
import type { Clock } from '../../core/ports/basics.ts';
import type { BlobStore } from '../../core/ports/blobs.ts';
import type { EngineParts, Store } from '../../core/ports/store.ts';

interface ProbeDeps {
  store: Store & EngineParts;
  /** Whether the store may remove rooms when it is full. */
  mayEvict: () => boolean;
  blobs: BlobStore;
  /** 0 for no limit. */
  maxStoredBytes: number;
  clock: Clock;
  /** The maximum size of a text, for which there must be free disk space. */
  largestContent: number;
  monotonic: Clock;
  lastSweptAt: () => number;
  sweepEveryMs: number;
  isStopping: () => boolean;
}

export type Probes = ReturnType<typeof createProbes>;

export function createProbes(deps: ProbeDeps) {
  const { store, blobs, maxStoredBytes, clock, monotonic } = deps;
  const startedAt = monotonic();
  // Concurrent probes share one check, so that they do not slow down a remote store.
  const stores = { store: singleFlight(() => store.ping()), files: singleFlight(() => blobs.ping()) };

  /** Without space for files the server is still ready for texts, so this does not affect readiness. */
  const uploads = singleFlight(async () => {
    try {
      await blobs.checkSpace(1);
    } catch (error) {
      if (hasCode(error, 'STORAGE_FULL')) return 'full';
      throw error;
    }
    if (maxStoredBytes === 0) return undefined;
    const { stored, reserved } = await store.storage.usage();
    return stored + reserved >= maxStoredBytes ? 'full' : undefined;
  });

  return {
    async health() {
      const healthy = Object.values(await run(stores)).every(isOk);
      return { healthy, now: clock(), uptime: Math.round(monotonic() - startedAt) / 1000 };
    },

    async ready() {
      const checks = await run({
        ...stores,
        store: () => stores.store().then(() => (deps.mayEvict() ? 'evicting' : undefined)),
        disk: async () => store.checkSpace?.(deps.largestContent),
        uploads,
        sweep: async () => (clock() - deps.lastSweptAt() > 8 * deps.sweepEveryMs ? 'late' : undefined),
        server: async () => (deps.isStopping() ? 'stopping' : undefined),
      });
      const { uploads: _, ...needed } = checks;
      return { ready: Object.values(needed).every(isOk), checks };
    },
  };
}

const isOk = (verdict: string) => verdict === 'ok';

/** Resolves with a problem or undefined. A rejection is reported as `failing`, without details. */
type Check = () => Promise<unknown>;

/** A store that takes longer is reported as not responding. */
const timeoutMs = 2000;

async function run(checks: Record<string, Check>): Promise<Record<string, string>> {
  const verdicts = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => [name, await verdict(check)] as const),
  );
  return Object.fromEntries(verdicts);
}

async function verdict(check: Check): Promise<string> {
  const { promise: late, resolve } = Promise.withResolvers<string>();
  // After a stall, timers run before I/O. setImmediate gives a response that has already arrived precedence.
  const timer = setTimeout(() => setImmediate(resolve, 'no answer'), timeoutMs);
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
