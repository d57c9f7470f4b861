/** The operations of operators: admin interface, command line, reports. None returns a text, a name of a room or file, or a PIN. */

import { randomBytes } from 'node:crypto';
import { removeUnsafeCharacters } from '../../protocol/file-name.ts';
import { parseRoomCode } from '../../protocol/room-code.ts';
import type { CreateReportRequest } from '../../protocol/types.ts';
import { admit, type Caller } from '../admission.ts';
import type { ClientHash } from '../clients.ts';
import { createRepetition, mapInBatches } from '../concurrency.ts';
import type { CoreDeps } from '../deps.ts';
import { invalidField, orMissing, PoproomError, roomMissing } from '../errors.ts';
import { reportLimits } from '../limits.ts';
import type {
  ActivityGauges,
  ActivityInterval,
  ActivityStore,
  ActivityTotals,
  AddressBlock,
  BlockStore,
  ClientTraffic,
  KeyUse,
  OperatorInbox,
  OperatorRequest,
  RoomReport,
  RoomSummary,
  Traffic,
} from '../ports/admin.ts';
import type { ClientId, Clock, Log } from '../ports/basics.ts';
import type { ApiKey } from '../ports/clients.ts';
import type { Store } from '../ports/store.ts';
import type { RoomCode } from '../room-code.ts';
import type { Rooms } from '../rooms.ts';
import { maskCode, type RoomHandles } from '../tokens.ts';

interface AdminDeps {
  store: Pick<Store, 'rooms' | 'summaries' | 'activity' | 'keys' | 'storage' | 'reports'>;
  rooms: Pick<Rooms, 'end'>;
  activity: Activity;
  blocks: Blocks;
  handles: RoomHandles;
  hashClient: ClientHash;
  clock: Clock;
  log: Log;
}

export type Admin = ReturnType<typeof createAdmin>;

export type ListedRoom = RoomSummary & { handle: string; maskedCode: string; deviceCount: number };

export interface ListedReport extends Omit<RoomReport, 'code'> {
  /** Undefined if the room has ended. */
  handle: string | undefined;
  maskedCode: string;
}

export type ListedClient = ClientTraffic & { hash: string };
export type ListedKey = ApiKey & { use: KeyUse | undefined };

const hourMs = 3600_000;

export function createAdmin(deps: AdminDeps) {
  const { store, rooms, activity, blocks, handles, hashClient, clock, log } = deps;

  /** Accepts a handle or a code. */
  async function findRoom(room: string): Promise<RoomCode> {
    const code = handles.codeOf(room) ?? parseRoomCode(room);
    if (code && (await store.summaries.find(code, clock()))) return code;
    throw roomMissing('gone');
  }

  const openReports = () => store.reports.list(clock() - reportLimits.keptMs);

  async function dismissReportsOf(code: RoomCode): Promise<void> {
    const about = (await openReports()).filter((report) => report.code === code);
    if (about.length > 0) await store.reports.remove(about.map(({ id }) => id));
  }

  async function listReport({ code, ...report }: RoomReport): Promise<ListedReport> {
    const room = await store.summaries.find(code, clock());
    const isSame = room?.createdAt === report.roomCreatedAt;
    return { ...report, handle: isSame ? handles.handleOf(code) : undefined, maskedCode: maskCode(code) };
  }

  return {
    blocks,

    async listReports({ limit, offset }: Page) {
      const all = await openReports();
      return { total: all.length, reports: await mapInBatches(all.slice(offset, offset + limit), listReport) };
    },

    async dismissReport(id: string, requestId: string): Promise<void> {
      if ((await store.reports.remove([id])) === 0) throw new PoproomError('NOT_FOUND', 'There is no such report.');
      log.info({ requestId, report: id }, 'an admin dismissed a report');
    },

    async numbers(hours: number) {
      await activity.flush();
      const now = clock();
      const intervalMs = hours <= 24 ? activityLimits.intervalMs : hourMs;
      const since = now - hours * hourMs;
      const [nodes, intervals, current, { stored }] = await Promise.all([
        store.activity.nodes(now - activityLimits.nodeSeenMs),
        store.activity.intervals(since - (since % intervalMs)),
        store.rooms.countRooms(now),
        store.storage.usage(),
      ]);
      const channels = nodes.reduce((sum, node) => sum + node.channels, 0);
      const gauges = { rooms: current, channels, storedBytes: stored };
      return { intervalMs, nodes: nodes.length, ...gauges, intervals: merge(intervals, intervalMs) };
    },

    async listRooms(order: keyof typeof roomOrders, client: string | undefined, page: Page) {
      const top = createTop<RoomSummary>(page, roomOrders[order]);
      for await (const room of store.summaries.list(clock())) {
        if (client === undefined || room.client === client) top.add(room);
      }
      const listed = await mapInBatches(top.page(), async (room): Promise<ListedRoom> => {
        const devices = await store.rooms.listDevices(room.code, clock());
        const names = { handle: handles.handleOf(room.code), maskedCode: maskCode(room.code) };
        return { ...room, ...names, deviceCount: devices.length };
      });
      return { total: top.total(), rooms: listed };
    },

    async revealRoom(room: string, requestId: string): Promise<RoomCode> {
      const code = await findRoom(room);
      log.info({ requestId, room: maskCode(code) }, 'an admin revealed the code of a room');
      return code;
    },

    async removeRoom(room: string, requestId: string): Promise<string> {
      const code = await findRoom(room);
      orMissing(await rooms.end(code));
      await dismissReportsOf(code);
      log.info({ requestId, room: maskCode(code) }, 'an admin removed a room');
      return maskCode(code);
    },

    async listClients(order: keyof typeof clientOrders, hours: number, page: Page) {
      await activity.flush();
      const now = clock();
      const top = createTop<ClientTraffic>(page, clientOrders[order]);
      for (const traffic of await store.activity.clients(now - (now % hourMs) - (hours - 1) * hourMs)) top.add(traffic);
      const listed = top.page().map((traffic): ListedClient => ({ ...traffic, hash: hashClient(traffic.client) }));
      return { total: top.total(), clients: listed };
    },

    async listKeys({ limit, offset }: Page) {
      await activity.flush();
      const [all, uses] = await Promise.all([store.keys.list(), store.activity.keyUse()]);
      const useOf = new Map(uses.map((use) => [use.keyId, use]));
      const newestFirst = all.reverse().slice(offset, offset + limit);
      return { total: all.length, keys: newestFirst.map((key): ListedKey => ({ ...key, use: useOf.get(key.id) })) };
    },

    async revokeKey(id: string, requestId: string): Promise<ListedKey> {
      const all = await store.keys.list();
      // By its id only: another key may have this id as its name.
      const key = all.some((known) => known.id === id) ? await store.keys.revoke(id, clock()) : undefined;
      if (key?.id !== id) throw new PoproomError('NOT_FOUND', 'There is no active key with this id.');
      log.info({ requestId, key: id }, 'an admin revoked an API key');
      const uses = await store.activity.keyUse();
      return { ...key, use: uses.find(({ keyId }) => keyId === id) };
    },
  };
}

type Compare<T> = (one: T, other: T) => number;

/** The largest value first. Equal ones are in the order of their ids. */
const descending = <T>(valueIn: (entry: T) => number, idOf: (entry: T) => string): Compare<T> => {
  return (one, other) => valueIn(other) - valueIn(one) || (idOf(one) < idOf(other) ? -1 : 1);
};

const byRoom = (valueIn: (room: RoomSummary) => number) => descending(valueIn, ({ code }) => code);
const roomOrders = {
  size: byRoom(({ fileBytes, textBytes }) => fileBytes + textBytes),
  age: byRoom(({ createdAt }) => -createdAt),
};

const byClient = (valueIn: (traffic: ClientTraffic) => number) => descending(valueIn, ({ client }) => client);
const clientOrders = {
  requests: byClient(({ requests }) => requests),
  refused: byClient(({ refused }) => refused),
  bytes: byClient(({ received, sent }) => received + sent),
};

/** Sums of longer intervals, with the last rooms and bytes, and the most channels. */
function merge(intervals: readonly ActivityInterval[], intervalMs: number): ActivityInterval[] {
  const merged = new Map<number, ActivityInterval>();
  for (const interval of intervals) {
    const at = interval.at - (interval.at % intervalMs);
    const sum = merged.get(at);
    const channels = Math.max(sum?.channels ?? 0, interval.channels);
    const next = { ...interval, at, channels };
    if (sum) add(next, sum, totalNames);
    merged.set(at, next);
  }
  return [...merged.values()];
}

export type Page = { limit: number; offset: number };

/** Sorts when it has twice as many entries as it keeps. */
function createTop<T>({ limit, offset }: Page, compare: Compare<T>) {
  const kept = limit + offset;
  const entries: T[] = [];
  let total = 0;
  const trim = () => entries.sort(compare).splice(kept);

  return {
    total: () => total,
    add(entry: T): void {
      total += 1;
      if (entries.push(entry) >= 2 * kept) trim();
    },
    page(): T[] {
      trim();
      return entries.slice(offset);
    },
  };
}

export type Blocks = ReturnType<typeof createBlocks>;

type BlocksDeps = { store: BlockStore; clock: Clock; everyMs: number; maximum: number };

export function createBlocks({ store, clock, everyMs, maximum }: BlocksDeps) {
  let known: readonly AddressBlock[] = [];
  const listeners: ((blocks: readonly AddressBlock[]) => void)[] = [];

  /** Reads them again. While the store is unavailable, the last known ones stay in force. */
  async function refresh(): Promise<void> {
    const current = await store.list(clock());
    if (JSON.stringify(current) === JSON.stringify(known)) return;
    known = current;
    for (const listener of listeners) listener(known);
  }

  const timer = setInterval(() => void refresh().catch(() => undefined), everyMs).unref();

  return {
    maximum,
    /** Calls `listener` with the blocks in force, whenever they change. */
    onChange: (listener: (blocks: readonly AddressBlock[]) => void) => void listeners.push(listener),
    list: () => store.list(clock()),
    async add(draft: Pick<AddressBlock, 'range' | 'reason' | 'endsAt'>): Promise<AddressBlock> {
      const block = { ...draft, id: randomBytes(5).toString('hex'), createdAt: clock() };
      if ((await store.put(block, maximum)) === 'full')
        throw invalidField('range', `There are already ${maximum} blocks. Remove one first.`, { maximum });
      await refresh();
      return block;
    },
    async remove(id: string): Promise<void> {
      if ((await store.remove(id)) === 'unknown') throw new PoproomError('NOT_FOUND', 'There is no such block.');
      await refresh();
    },
    refresh,
    stop: () => clearInterval(timer),
  };
}

const activityLimits = {
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
    /** For a request or its rest: a live channel is counted when it opens, and its bytes when it closes. */
    note(occurrence: ClientTraffic & ActivityTotals): void {
      add(totals, occurrence, totalNames);
      noteClient(clients, occurrence);
    },
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
const totalNames = Object.keys(noTotals) as (keyof ActivityTotals)[];

function add<Name extends string>(sum: Record<Name, number>, more: Record<Name, number>, names: Name[]): void {
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

const pollMs = 500;

type OperatorDeps = { inbox: OperatorInbox; store: Pick<Store['rooms'], 'listDevices'> } & Pick<
  AdminDeps,
  'rooms' | 'clock' | 'log'
>;

/**
 * Polls for requests of the command line to the running server, which is the only one that may change its rooms. Returns
 * a function that stops this.
 */
export function answerOperator({ inbox, store, rooms, clock, log }: OperatorDeps): () => Promise<void> {
  let isFailing = false;

  async function answerAll(): Promise<void> {
    for (const { id, request } of await inbox.unanswered()) await inbox.answer(id, await answer(request));
    isFailing = false;
  }

  async function answer(request: OperatorRequest): Promise<unknown> {
    if ('remove' in request) {
      const outcomes = await mapInBatches(request.remove, (code) => rooms.end(code));
      const removed = outcomes.filter((reason) => reason === undefined).length;
      log.info({ rooms: removed }, 'removed rooms for the operator');
      return outcomes.map((reason) => reason ?? 'removed');
    }
    const devices = await mapInBatches(request.countDevices, (code) => store.listDevices(code, clock()));
    return devices.map(({ length }) => length);
  }

  /** Retried at every poll, logged once. */
  function onFailure(err: unknown): void {
    if (!isFailing) log.warn({ err }, 'cannot process requests of the command line');
    isFailing = true;
  }

  const polls = createRepetition(answerAll, pollMs, onFailure);
  polls.start();
  return polls.stop;
}

/** Reports of rooms, which people send to the operator. */
export type Reports = ReturnType<typeof createReports>;

export const createReports = (deps: CoreDeps, hashClient: ClientHash, log: Log) => ({
  /** Everyone with access to the room may report it. Nothing of its content is stored with the report. */
  async add(caller: Caller, { reason, comment = '' }: CreateReportRequest): Promise<void> {
    const { code, createdAt: roomCreatedAt } = await admit(deps, caller, 'reportRoom');
    const report = {
      ...{ id: randomBytes(5).toString('hex'), code, roomCreatedAt, reason, createdAt: deps.clock() },
      comment: removeUnsafeCharacters(comment) || undefined,
      client: hashClient(caller.client),
    };
    const outcome = await deps.reports.put(report, reportLimits);
    if (outcome === 'full')
      throw new PoproomError(
        'TOO_MANY_REPORTS',
        'The operator has too many open reports. Contact the operator directly.',
      );
    log.warn({ report: report.id, reason }, 'someone reported a room');
  },
});
