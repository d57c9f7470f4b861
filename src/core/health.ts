/** The health of the service: outages of its stores in the log, and probes for monitoring and load balancers. */
import { singleFlight } from './concurrency.ts';
import { hasCode } from './errors.ts';
import type { Clock, Log } from './ports/basics.ts';
import type { BlobStore } from './ports/files.ts';
import type { EngineParts, Store } from './ports/store.ts';

interface OutageWatch {
  /** How to ask each store whether it responds. */
  stores: Readonly<Record<string, () => Promise<unknown>>>;
  log: Log;
  monotonic: Clock;
  /** The shortest time between two checks of a store. */
  everyMs: number;
}

type State = 'responding' | 'suspected' | { lostAt: number };

/**
 * Logs when a store stops responding and when it responds again: one line each, whatever the number of requests that
 * fail in between. A store is asked only after something failed, and then not again for a while, because a request to
 * S3 costs money.
 */
export function watchOutages({ stores, log, monotonic, everyMs }: OutageWatch) {
  const states = new Map<string, State>(Object.keys(stores).map((name) => [name, 'responding']));
  const askedAt = new Map<string, number>();
  const timers = new Map<string, NodeJS.Timeout>();
  let isStopped = false;

  async function check(name: string): Promise<void> {
    askedAt.set(name, monotonic());
    const reason = await Promise.try(() => stores[name]?.()).then(() => undefined, reasonOf);
    if (isStopped) return;
    if (reason === undefined) onResponse(name);
    else onFailure(name, reason);
  }

  function onResponse(name: string): void {
    const state = states.get(name);
    states.set(name, 'responding');
    if (typeof state !== 'object') return;
    const seconds = Math.round((monotonic() - state.lostAt) / 100) / 10;
    log.warn({ store: name, seconds }, 'store responds again');
  }

  function onFailure(name: string, reason: string): void {
    if (states.get(name) === 'suspected') {
      states.set(name, { lostAt: monotonic() });
      log.error({ store: name, reason }, 'store lost');
    }
    checkIn(everyMs, name);
  }

  function checkIn(ms: number, name: string): void {
    timers.set(name, setTimeout(() => void check(name), ms).unref());
  }

  return {
    /** Call this when a store may have failed. */
    suspect(): void {
      for (const [name, state] of states) {
        if (state !== 'responding') continue;
        states.set(name, 'suspected');
        const wait = (askedAt.get(name) ?? Number.NEGATIVE_INFINITY) + everyMs - monotonic();
        if (wait <= 0) void check(name);
        else checkIn(wait, name);
      }
    },
    stop(): void {
      isStopped = true;
      for (const timer of timers.values()) clearTimeout(timer);
    },
  };
}

const reasonOf = ({ message, cause }: Error): string => (cause instanceof Error ? cause.message : message);

interface EvictionDeps extends Pick<OutageWatch, 'log' | 'everyMs'> {
  store: Pick<Store, 'evictionPolicy'>;
  /** Whether the operator accepts the loss of rooms. */
  isAllowed: boolean;
}

/** Watches whether the store may remove rooms when it is full: someone may change its settings at any time. */
export function watchEviction({ store, isAllowed, log, everyMs }: EvictionDeps) {
  let known: string | undefined = 'noeviction';

  async function check(): Promise<void> {
    const policy = await store.evictionPolicy();
    if (policy !== known) report(policy);
    known = policy;
  }

  function report(policy: string | undefined): void {
    if (policy === 'noeviction') log.info({ policy }, 'the store keeps everything when it is full');
    else if (policy === undefined) log.warn({}, unknownPolicy);
    else log[isAllowed ? 'warn' : 'error']({ policy }, evicts);
  }

  // An outage is reported elsewhere.
  const checkSafely = () => void check().catch(() => undefined);
  checkSafely();
  const timer = setInterval(checkSafely, everyMs).unref();
  return {
    /** Whether the store evicts although the operator does not accept it. */
    isRisky: () => !isAllowed && known !== undefined && known !== 'noeviction',
    stop: () => clearInterval(timer),
  };
}

const evicts = 'the store deletes rooms when its memory is full: set its maxmemory-policy to noeviction';
const unknownPolicy =
  'the store does not reveal its maxmemory-policy: make sure that it is noeviction, or rooms may be lost';

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

/** For monitoring (health), supervisors (live) and load balancers (ready). */
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
