/** Counts requests and bytes in memory, and adds them to the store every few seconds. */
import { randomBytes } from 'node:crypto';
import type { ActivityGauges, ActivityStore, ActivityTotals, ClientTraffic, Traffic } from '../ports/admin.ts';
import type { ClientId, Clock } from '../ports/basics.ts';

export const activityLimits = {
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

export type Activity = ReturnType<typeof createActivity>;

type ActivityDeps = { store: ActivityStore; gauges: () => Promise<ActivityGauges>; clock: Clock; everyMs: number };

export function createActivity({ store, gauges, clock, everyMs }: ActivityDeps) {
  const node = randomBytes(6).toString('hex');
  let totals = { ...noTotals };
  let clients = new Map<ClientId, ClientTraffic>();
  let reportedAt = Number.NEGATIVE_INFINITY;
  let running: Promise<void> = Promise.resolve();

  async function report(current: ActivityGauges | undefined): Promise<void> {
    const taken = { totals, clients: [...clients.values()] };
    totals = { ...noTotals };
    clients = new Map();
    try {
      await store.report({ node, ...taken, gauges: current }, activityLimits, clock());
      reportedAt = performance.now();
    } catch (error) {
      // Counted again with the next report.
      for (const traffic of taken.clients) noteClient(clients, traffic);
      add(totals, taken.totals, totalNames);
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
    note(occurrence: Occurrence): void {
      add(totals, occurrence, totalNames);
      noteClient(clients, occurrence);
    },
    /** Adds everything so far to the store. */
    flush,
    /** Adds everything so far, and removes this node from the list. */
    async stop(): Promise<void> {
      clearInterval(timer);
      await enqueue(() => report(undefined)).catch(() => undefined);
    },
  };
}

const noTraffic: Readonly<Traffic> = { requests: 0, refused: 0, received: 0, sent: 0 };
const noTotals: Readonly<ActivityTotals> = { ...noTraffic, failed: 0, roomsCreated: 0 };

const trafficNames = Object.keys(noTraffic) as (keyof Traffic)[];
export const totalNames = Object.keys(noTotals) as (keyof ActivityTotals)[];

export function add<Name extends string>(sum: Record<Name, number>, more: Record<Name, number>, names: Name[]): void {
  for (const name of names) sum[name] += more[name];
}

function noteClient(clients: Map<ClientId, ClientTraffic>, more: ClientTraffic): void {
  const { client } = more;
  const known = clients.get(client);
  if (!known && clients.size >= clientsPerReport) return;
  const sum = known ?? { client, ...noTraffic };
  add(sum, more, trafficNames);
  clients.set(client, sum);
}
