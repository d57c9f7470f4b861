/** Counts requests and bytes in memory, and adds them to the store every few seconds. */
import { randomBytes } from 'node:crypto';
import type {
  ActivityGauges,
  ActivityLimits,
  ActivityReport,
  ActivityStore,
  ActivityTotals,
  ClientTraffic,
} from '../ports/admin.ts';
import type { ClientId, Clock } from '../ports/basics.ts';

export const activityLimits: ActivityLimits = {
  intervalMs: 5 * 60_000,
  keptMs: 7 * 86_400_000,
  clientsKeptMs: 24 * 3600_000,
  clientsPerHour: 1000,
  nodeSeenMs: 60_000,
};

/** The maximum number of clients in a report. The requests of all others count only in the totals. */
const clientsPerReport = 2000;
/** A node without traffic reports this often, so that it is known to run. */
const idleReportMs = 20_000;

/** A request or its rest: a live channel is counted when it opens, and its bytes when it closes. */
export type Occurrence = ClientTraffic & Pick<ActivityTotals, 'failed' | 'roomsCreated'>;

export interface Activity {
  note(occurrence: Occurrence): void;
  /** Adds everything so far to the store. */
  flush(): Promise<void>;
  /** Adds everything so far, and removes this node from the list. */
  stop(): Promise<void>;
}

interface ActivityDeps {
  store: ActivityStore;
  gauges: () => Promise<ActivityGauges>;
  clock: Clock;
  everyMs: number;
}

export function createActivity({ store, gauges, clock, everyMs }: ActivityDeps): Activity {
  const node = randomBytes(6).toString('hex');
  let totals = noTotals();
  let clients = new Map<ClientId, ClientTraffic>();
  let reportedAt = Number.NEGATIVE_INFINITY;
  let running: Promise<void> = Promise.resolve();

  /** Takes what was counted so far. */
  function take(): Pick<ActivityReport, 'totals' | 'clients'> {
    const taken = { totals, clients: [...clients.values()] };
    totals = noTotals();
    clients = new Map();
    return taken;
  }

  async function report(current: ActivityGauges | undefined): Promise<void> {
    const taken = take();
    try {
      await store.report({ node, ...taken, gauges: current }, activityLimits, clock());
      reportedAt = performance.now();
    } catch (error) {
      // Counted again with the next report.
      for (const traffic of taken.clients) noteClient(clients, traffic);
      add(totals, taken.totals);
      throw error;
    }
  }

  /** One after another, so that a slow store does not receive reports in the wrong order. */
  function enqueue(work: () => Promise<void>): Promise<void> {
    const done = running.then(work);
    running = done.catch(() => undefined);
    return done;
  }

  const flush = () => enqueue(async () => report(await gauges()));
  const isDue = () => clients.size > 0 || performance.now() - reportedAt >= idleReportMs;
  // A store that is unavailable is reported elsewhere.
  const timer = setInterval(() => isDue() && void flush().catch(() => undefined), everyMs).unref();

  return {
    note(occurrence) {
      add(totals, occurrence);
      const { client, requests, refused, received, sent } = occurrence;
      noteClient(clients, { client, requests, refused, received, sent });
    },
    flush,
    async stop() {
      clearInterval(timer);
      await enqueue(() => report(undefined)).catch(() => undefined);
    },
  };
}

const noTotals = (): ActivityTotals => ({
  requests: 0,
  refused: 0,
  received: 0,
  sent: 0,
  failed: 0,
  roomsCreated: 0,
});

function add(sum: ActivityTotals, more: ActivityTotals): void {
  for (const name of Object.keys(sum) as (keyof ActivityTotals)[]) sum[name] += more[name];
}

function noteClient(clients: Map<ClientId, ClientTraffic>, more: ClientTraffic): void {
  const known = clients.get(more.client);
  if (!known) {
    if (clients.size < clientsPerReport) clients.set(more.client, { ...more });
    return;
  }
  known.requests += more.requests;
  known.refused += more.refused;
  known.received += more.received;
  known.sent += more.sent;
}
