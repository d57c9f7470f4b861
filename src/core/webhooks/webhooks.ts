/** The webhooks of a room: members create, list and remove them, and nodes report the changes of rooms to them. */
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { admit, type Caller } from '../admission.ts';
import { createRepetition } from '../concurrency.ts';
import type { CoreDeps } from '../deps.ts';
import { invalidField, orMissing, PoproomError } from '../errors.ts';
import type { WebhookProblem, WebhookSender, WebhookStore } from '../ports/webhooks.ts';
import type { RoomCode } from '../room-code.ts';
import {
  createWebhookDocuments,
  type DocumentState,
  dueAtOf,
  endOfRoom,
  requestFor,
  type SeenRoom,
  seenRoom,
  type Webhook,
  type WebhookDocument,
  type WebhookDocuments,
  type WebhookEvent,
  wants,
  webhookSecret,
  withChanges,
  withEvents,
} from './document.ts';

const maxPerRoom = 5;
const maxUrlLength = 2048;

/** Unchecked input. */
interface NewWebhook {
  url: string;
  /** All if undefined. */
  events: readonly WebhookEvent[] | undefined;
  /** The URL of the server as the caller reaches it. */
  base: string;
}

/** The public part of a webhook. The rest of its URL may contain a token. */
export interface WebhookInfo extends Pick<Webhook, 'id' | 'events' | 'createdAt' | 'lastDeliveredAt' | 'lastError'> {
  host: string;
}

interface WebhooksDeps {
  core: CoreDeps & { webhooks: WebhookStore };
  sender: WebhookSender;
  /** How often all rooms with webhooks are compared. */
  scanEveryMs: number;
  onFailure: (error: unknown) => void;
}

export type Webhooks = ReturnType<typeof createWebhooks>;

const allEvents: readonly WebhookEvent[] = ['text', 'file', 'device', 'room'];

export function createWebhooks(deps: WebhooksDeps) {
  const { core, sender } = deps;
  const { clock, secret } = core;
  const documents = createWebhookDocuments(core);
  const dispatcher = createDispatcher(deps, documents);

  /** The state from which changes are reported. */
  async function currentRoom(code: RoomCode) {
    const state = orMissing(await core.rooms.readState(code, clock()));
    return seenRoom(state, await core.rooms.listDevices(code, clock()));
  }

  return {
    dispatcher,

    /** Returns the webhook with its secret, which is not shown again. */
    async create(caller: Caller, { url, events = allEvents, base }: NewWebhook) {
      const { code } = await admit(core, caller, 'manageWebhooks');
      const target = checkUrl(url, sender);
      const now = clock();
      const webhook: Webhook = {
        ...{ id: randomBytes(16).toString('hex'), url: target.href, events: [...new Set(events)] },
        ...{ link: `${base}/r/${code}`, createdAt: now, pending: [], failures: 0, nextAttemptAt: 0 },
      };
      const { seq, state } = await currentRoom(code);
      const fresh: WebhookDocument = { webhooks: [], reported: state, textAt: 0, deviceAt: 0 };
      const outcome = await documents.update(code, (current) => {
        const { document, ...rest } = current ?? { document: fresh, seq, dueAt: now };
        if (document.webhooks.length >= maxPerRoom) {
          const message = `A room can have at most ${maxPerRoom} webhooks.`;
          throw new PoproomError('TOO_MANY_WEBHOOKS', message, { details: { maximum: maxPerRoom } });
        }
        // Nobody has followed the devices so far.
        const devices = wants(document, 'device') ? document.reported.devices : state.devices;
        const reported = { ...document.reported, devices };
        return { ...rest, document: { ...document, reported, webhooks: [...document.webhooks, webhook] } };
      });
      orMissing(outcome);
      dispatcher.know(code);
      return { ...infoOf(webhook), secret: `whsec_${webhookSecret(secret, webhook.id).toString('base64')}` };
    },

    async list(caller: Caller): Promise<WebhookInfo[]> {
      const { code } = await admit(core, caller, 'manageWebhooks');
      const found = await documents.read(code);
      return (found?.document.webhooks ?? []).map(infoOf);
    },

    async remove(caller: Caller, id: string): Promise<void> {
      const { code } = await admit(core, caller, 'manageWebhooks');
      const outcome = await documents.update(code, (current) => {
        if (!current?.document.webhooks.some((webhook) => webhook.id === id))
          throw new PoproomError('NOT_FOUND', 'The room has no such webhook.', { details: { field: 'webhookId' } });
        const webhooks = current.document.webhooks.filter((webhook) => webhook.id !== id);
        return { ...current, document: { ...current.document, webhooks } };
      });
      orMissing(outcome);
    },
  };
}

function infoOf({ id, url, events, createdAt, lastDeliveredAt, lastError }: Webhook): WebhookInfo {
  return {
    ...{ id, host: new URL(url).host, events, createdAt },
    ...(lastDeliveredAt !== undefined && { lastDeliveredAt }),
    ...(lastError && { lastError }),
  };
}

function checkUrl(text: string, sender: WebhookSender): URL {
  const url = text.length <= maxUrlLength ? URL.parse(text) : null;
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.hash) {
    const form = `with http or https, of at most ${maxUrlLength} characters, without user name, password and fragment`;
    throw invalidField('url', `"url" must be a URL ${form}.`);
  }
  if (sender.isAllowed(url)) return url;
  const message =
    'This server does not allow webhooks to this host. The operator can allow it with POPROOM_WEBHOOK_HOSTS.';
  throw new PoproomError('WEBHOOK_NOT_ALLOWED', message, { details: { field: 'url' } });
}

/** An event is sent again for this long. */
const retryForMs = 10 * 60_000;
const firstRetryMs = 5000;
const longestRetryMs = 160_000;
/** After this, a pass starts no further request. With the last one it is shorter than the lease. */
const sendForMs = 8000;
const leaseMs = 20_000;
/** All changes within this time are one pass. */
const passGapMs = 1000;
const maxPasses = 20;
/** Rooms that have ended, whose last event is in memory only. */
const maxEnding = 1000;

/**
 * Reports the changes of rooms. A change wakes the node that made it. Every node also compares all rooms that have
 * webhooks with what was reported, so that a crash loses nothing.
 *
 * A pass over a room first stores the events with a lease of this node, and then sends them. If the node crashes, another
 * one sends them again when the lease has ended, with the same ids.
 */
function createDispatcher(deps: WebhooksDeps, documents: WebhookDocuments) {
  const { core, scanEveryMs, onFailure } = deps;
  const { clock } = core;
  /** Names this node in leases. Without `node:crypto`, which would take a tenth of the start to load. */
  const nodeId = Math.random().toString(36).slice(2);
  const stopping = new AbortController();
  const running = new Map<RoomCode, Promise<void>>();
  const waiting = new Set<RoomCode>();
  const ending = new Set<Promise<void>>();
  const timers = new Map<RoomCode, { timer: NodeJS.Timeout; at: number }>();
  const startedAt = new Map<RoomCode, number>();
  let known = new Set<RoomCode>();

  function wakeIn(code: RoomCode, ms: number): void {
    const at = performance.now() + ms;
    const set = timers.get(code);
    if (stopping.signal.aborted || (set && set.at <= at)) return;
    clearTimeout(set?.timer);
    const timer = setTimeout(() => {
      timers.delete(code);
      enqueue(code);
    }, ms);
    timers.set(code, { timer, at });
  }

  function enqueue(code: RoomCode): void {
    waiting.add(code);
    startPasses();
  }

  function startPasses(): void {
    for (const code of waiting) {
      if (running.size >= maxPasses || stopping.signal.aborted) return;
      if (running.has(code)) continue;
      waiting.delete(code);
      startedAt.set(code, performance.now());
      const ended = pass(code)
        .catch(onFailure)
        .then(() => {
          running.delete(code);
          startPasses();
        });
      running.set(code, ended);
    }
  }

  async function pass(code: RoomCode): Promise<void> {
    const found = await documents.read(code);
    if (!found) return reportEnd(code);
    if (isLeased(found.document, nodeId, clock())) return;
    const seen = await look(core, code, found.document);
    if (!seen) return;
    const claimed = await documents.update(code, (current) => current && claim(current, seen, nodeId, clock()));
    if (typeof claimed !== 'object') return;
    if (claimed.lease) await sendDue(code, claimed, seen);
    else wakeFor(code, dueAtOf(claimed, seen.state, clock()));
  }

  async function sendDue(code: RoomCode, document: WebhookDocument, seen: SeenRoom): Promise<void> {
    const results = await sendAll(deps, document);
    const stored = await documents.update(
      code,
      (current) => current && release(current, results, seen, nodeId, clock()),
    );
    if (typeof stored === 'object') wakeFor(code, dueAtOf(stored, seen.state, clock()));
  }

  /** The scan finds what is due later. */
  function wakeFor(code: RoomCode, dueAt: number): void {
    if (dueAt - clock() <= scanEveryMs) wakeIn(code, Math.max(0, dueAt - clock()));
  }

  /** The store no longer has the webhooks of a room that has ended, so its last events are in memory only. */
  async function reportEnd(code: RoomCode): Promise<void> {
    const document = await documents.takeEnded(code);
    known.delete(code);
    startedAt.delete(code);
    if (!document || ending.size >= maxEnding) return;
    const reporting = sendUntilDone(withEnd(document, clock())).catch(onFailure);
    ending.add(reporting);
    void reporting.then(() => ending.delete(reporting));
  }

  async function sendUntilDone(document: WebhookDocument): Promise<void> {
    let left = document;
    while (left.webhooks.some(({ pending }) => pending.length > 0)) {
      left = withResults(left, await sendAll(deps, left), clock());
      const withoutDevices = { ...left, reported: { ...left.reported, devices: [] } };
      const waitMs = Math.max(0, dueAtOf(withoutDevices, undefined, 0) - clock());
      if (Number.isFinite(waitMs) && waitMs <= longestRetryMs) {
        await pause(waitMs, undefined, { signal: stopping.signal }).catch(() => undefined);
      }
      if (stopping.signal.aborted) return;
    }
  }

  async function scan(): Promise<void> {
    const { all, due, ended } = await core.webhooks.scan(clock());
    known = new Set(all);
    for (const code of startedAt.keys()) if (!known.has(code)) startedAt.delete(code);
    for (const code of [...due, ...ended]) enqueue(code);
  }

  const scans = createRepetition(scan, scanEveryMs, onFailure);

  return {
    start: scans.start,

    /** A room has changed. Cheap if it has no webhooks. */
    notice(code: RoomCode): void {
      if (!known.has(code)) return;
      const last = startedAt.get(code) ?? Number.NEGATIVE_INFINITY;
      wakeIn(code, Math.max(0, last + passGapMs - performance.now()));
    },

    /** A room has its first webhook. Other nodes find it in their next scan. */
    know: (code: RoomCode) => void known.add(code),

    /** Rooms whose events are being sent, or wait for that. */
    queueLength: () => running.size + waiting.size + ending.size,

    async stop(): Promise<void> {
      stopping.abort();
      for (const { timer } of timers.values()) clearTimeout(timer);
      await scans.stop();
      await Promise.all([...running.values(), ...ending]);
    },
  };
}

/** Undefined if the room has ended. The text itself is not needed, only its version. */
async function look(core: CoreDeps, code: RoomCode, document: WebhookDocument): Promise<SeenRoom | undefined> {
  const { reported } = document;
  const state = await core.rooms.readState(code, core.clock(), reported);
  if (typeof state === 'string') return undefined;
  const isFollowed = wants(document, 'device');
  return seenRoom(state, isFollowed ? await core.rooms.listDevices(code, core.clock()) : reported.devices);
}

const isLeased = ({ lease }: WebhookDocument, node: string, now: number) =>
  lease !== undefined && lease.node !== node && lease.until > now && lease.until <= now + leaseMs;

/** Adds what has changed, and reserves the document for this node if there is something to send. */
function claim(current: DocumentState, seen: SeenRoom, node: string, now: number): DocumentState | undefined {
  // Another node has read the room later, and reported that.
  if (isLeased(current.document, node, now) || current.seq > seen.seq) return undefined;
  const next = withChanges(current, seen, now);
  if (dueWebhooks(next.document, now).length === 0) return isSame(current, next) ? undefined : next;
  const until = now + leaseMs;
  return { ...next, document: { ...next.document, lease: { node, until } }, dueAt: until };
}

const isSame = (one: DocumentState, other: DocumentState) =>
  one.seq === other.seq && one.dueAt === other.dueAt && JSON.stringify(one.document) === JSON.stringify(other.document);

const dueWebhooks = ({ webhooks }: WebhookDocument, now: number): Webhook[] =>
  webhooks.filter(({ pending, nextAttemptAt: at }) => pending.length > 0 && (at <= now || at > now + longestRetryMs));

interface SendResult {
  webhookId: string;
  delivered: string[];
  /** Absent if all events were delivered. Without a problem, nothing was tried. */
  stopped?: { problem?: WebhookProblem };
}

/** All webhooks concurrently, the events of each in order. */
const sendAll = (deps: WebhooksDeps, document: WebhookDocument): Promise<SendResult[]> =>
  Promise.all(dueWebhooks(document, deps.core.clock()).map((webhook) => sendEvents(deps, webhook)));

async function sendEvents({ core, sender }: WebhooksDeps, webhook: Webhook): Promise<SendResult> {
  const { secret, clock } = core;
  const deadline = performance.now() + sendForMs;
  const delivered: string[] = [];
  const result = { webhookId: webhook.id, delivered };
  for (const event of webhook.pending) {
    if (performance.now() > deadline) return { ...result, stopped: {} };
    const sent = await sender.send(requestFor(webhook, event, secret, clock()));
    if (sent.outcome === 'busy') return { ...result, stopped: {} };
    if (sent.outcome === 'failed') return { ...result, stopped: sent };
    delivered.push(event.id);
  }
  return result;
}

/** Adds the results to the document, which may have changed since. */
function release(current: DocumentState, results: readonly SendResult[], seen: SeenRoom, node: string, now: number) {
  const { lease, ...rest } = withResults(current.document, results, now);
  const isOurs = lease?.node === node;
  const document: WebhookDocument = isOurs || !lease ? rest : { ...rest, lease };
  return { ...current, document, dueAt: isOurs ? dueAtOf(document, seen.state, now) : current.dueAt };
}

function withResults(document: WebhookDocument, results: readonly SendResult[], now: number): WebhookDocument {
  const webhooks = document.webhooks.map((webhook) => {
    const result = results.find(({ webhookId }) => webhookId === webhook.id);
    return result ? withResult(webhook, result, now) : webhook;
  });
  return { ...document, webhooks };
}

function withResult(webhook: Webhook, { delivered, stopped }: SendResult, now: number): Webhook {
  const left = webhook.pending.filter(({ id }) => !delivered.includes(id));
  const { lastError, ...others } = webhook;
  const reached: Webhook =
    delivered.length > 0
      ? { ...others, pending: left, failures: 0, nextAttemptAt: 0, lastDeliveredAt: now }
      : { ...webhook, pending: left };
  if (!stopped) return reached;
  if (stopped.problem === undefined) return { ...reached, nextAttemptAt: now + passGapMs };
  const failures = reached.failures + 1;
  const nextAttemptAt = now + Math.min(firstRetryMs * 2 ** (failures - 1), longestRetryMs);
  // Events that are too old by then are given up.
  const pending = left.filter(({ at }) => nextAttemptAt <= at + retryForMs);
  return { ...reached, pending, failures, nextAttemptAt, lastError: { at: now, ...stopped.problem } };
}

/** The last event of a room. */
function withEnd(document: WebhookDocument, now: number): WebhookDocument {
  const end = endOfRoom(document.reported.version, now);
  return { ...document, webhooks: document.webhooks.map((webhook) => withEvents(webhook, [end], now)) };
}
