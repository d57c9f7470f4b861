/**
 * The webhooks of a room, as one sealed document in the store: their definitions, the state of the room that was
 * reported last, and the events to send. Changes compare revisions, so that no node overwrites the change of another.
 *
 * Events are the differences between two states of a room. Each is sent in a signed request.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { PoproomError } from '../errors.ts';
import type { Clock, Room } from '../ports/basics.ts';
import type { StoredFile } from '../ports/files.ts';
import type { Device, RoomState } from '../ports/rooms.ts';
import type { KnownText } from '../ports/texts.ts';
import type { StoredWebhooks, WebhookProblem, WebhookRequest, WebhookStore } from '../ports/webhooks.ts';
import type { RoomCode } from '../room-code.ts';
import { toTimestamp } from '../timestamp.ts';
import { seal, unseal } from '../tokens.ts';

export type WebhookEvent = 'text' | 'file' | 'device' | 'room';

/** An event that was not delivered yet. A repetition has the same id. */
export interface PendingEvent {
  id: string;
  type: WebhookEvent;
  at: number;
  /** The fields of the payload that describe the event. */
  data: Readonly<Record<string, unknown>>;
}

export interface Webhook {
  id: string;
  url: string;
  events: readonly WebhookEvent[];
  /** The link to the room, as its creator reached the server. */
  link: string;
  createdAt: number;
  /** Oldest first. */
  pending: PendingEvent[];
  /** Failed attempts since the last delivery, and when the next one is due. */
  failures: number;
  nextAttemptAt: number;
  lastDeliveredAt?: number;
  lastError?: WebhookProblem & { at: number };
}

/** The state of a room that its webhooks know. */
export interface ReportedState extends KnownText, Pick<Room, 'name' | 'expiresAt' | 'hasPin'> {
  /** The starts of their ids, which are enough to tell them apart. */
  files: readonly string[];
  devices: readonly Device[];
  extendMs: number | undefined;
}

export interface WebhookDocument {
  webhooks: Webhook[];
  reported: ReportedState;
  /** When the last events of these types were made. */
  textAt: number;
  deviceAt: number;
  /** The node that reports changes and sends events, until it is done or this moment has passed. */
  lease?: { node: string; until: number };
}

/** Everything but the document itself: what the store needs to know to find it again. */
export type DocumentState = Pick<StoredWebhooks, 'seq' | 'dueAt'> & { document: WebhookDocument };

/** How many rooms may have webhooks. Nodes compare all of them with their rooms every few seconds. */
const maxRooms = 10_000;
const maxConflicts = 20;

type DocumentDeps = { webhooks: WebhookStore; secret: string; clock: Clock };

export type WebhookDocuments = ReturnType<typeof createWebhookDocuments>;

export function createWebhookDocuments({ webhooks, secret, clock }: DocumentDeps) {
  const keyOf = (code: RoomCode) => createHmac('sha256', secret).update(`webhooks ${code}`).digest();

  /** Undefined if it was sealed under another secret of the server. */
  function open(code: RoomCode, document: string): WebhookDocument | undefined {
    try {
      return JSON.parse(unseal(Buffer.from(document, 'base64'), keyOf(code)));
    } catch {
      return undefined;
    }
  }

  function opened(code: RoomCode, stored: StoredWebhooks | undefined): DocumentState | undefined {
    const document = stored && open(code, stored.document);
    return stored && document && { ...stored, document };
  }

  return {
    read: async (code: RoomCode) => opened(code, await webhooks.read(code, clock())),

    /**
     * Changes the document, again if another change came first. Without webhooks, it is removed. `change` returns
     * undefined to leave it as it is, and may throw. Returns the stored document, and `gone` if the room has ended.
     */
    async update(
      code: RoomCode,
      change: (current: DocumentState | undefined) => DocumentState | undefined,
    ): Promise<WebhookDocument | undefined | 'gone'> {
      for (let conflicts = 0; conflicts < maxConflicts; conflicts++) {
        const stored = await webhooks.read(code, clock());
        const next = change(opened(code, stored));
        if (!next) return undefined;
        const { document, seq, dueAt } = next;
        const state = { revision: (stored?.revision ?? 0) + 1, seq, dueAt };
        const isKept = document.webhooks.length > 0;
        const sealed = isKept && { document: seal(JSON.stringify(document), keyOf(code)).toString('base64') };
        const outcome = await webhooks.write(code, { ...state, ...sealed }, maxRooms, clock());
        if (outcome === 'stored') return document;
        if (outcome === 'gone') return 'gone';
        if (outcome === 'full') throw new PoproomError('UNAVAILABLE', tooManyRooms, { retryAfter: 3600 });
      }
      const message = 'The webhooks of the room are being changed. Try again.';
      throw new PoproomError('UNAVAILABLE', message, { retryAfter: 1 });
    },

    /** Removes the webhooks of a room that has ended, and returns them to one caller. */
    async takeEnded(code: RoomCode): Promise<WebhookDocument | undefined> {
      const document = await webhooks.takeEnded(code, clock());
      return document === undefined ? undefined : open(code, document);
    },
  };
}

const tooManyRooms = 'Too many rooms of this server have webhooks. Try again later.';

/** Changes of the text and of the devices are reported at most once in this time, together. */
const quietMs = 5000;
/** A device that lost its connection is noticed by reading the list again. */
const deviceCheckMs = 60_000;
const maxPending = 20;
/** More files and devices are only counted. */
const maxListed = 20;

/** The state of a room, as a node has read it. */
export interface SeenRoom {
  seq: number;
  state: ReportedState;
  files: readonly StoredFile[];
  /** An encrypted room has sealed names, which are left out. */
  isEncrypted: boolean;
}

export function seenRoom({ room, seq, text, files }: RoomState, devices: readonly Device[]): SeenRoom {
  const { name, expiresAt, hasPin, salt, extendMs } = room;
  const { version, writtenAt } = text;
  const fileIds = files.map(({ id }) => shortId(id));
  const state = { version, writtenAt, files: fileIds, devices, name, expiresAt, extendMs, hasPin };
  return { seq, state, files, isEncrypted: salt !== undefined };
}

const shortId = (fileId: string) => fileId.slice(0, 12);

/** Adds the events for what has changed since the last report. Changes that must wait stay unreported. */
export function withChanges({ document }: DocumentState, seen: SeenRoom, now: number): DocumentState {
  const { reported, textAt, deviceAt } = document;
  const mayReportText = now >= textAt + quietMs || now < textAt;
  const mayReportDevices = now >= deviceAt + quietMs || now < deviceAt;
  const next = { ...seen.state };
  if (!mayReportText) Object.assign(next, { version: reported.version, writtenAt: reported.writtenAt });
  if (!mayReportDevices) next.devices = reported.devices;
  const events = eventsBetween(reported, next, seen).map(({ type, data }) => newEvent(type, data, now));
  const lastOf = (type: WebhookEvent, at: number) => (events.some((event) => event.type === type) ? now : at);
  const webhooks = document.webhooks.map((webhook) => withEvents(webhook, events, now));
  const times = { textAt: lastOf('text', textAt), deviceAt: lastOf('device', deviceAt) };
  const changed: WebhookDocument = { webhooks, reported: next, ...times };
  return { document: changed, seq: seen.seq, dueAt: dueAtOf(changed, seen.state, now) };
}

/** When the next attempt, a change that waits, or the next look at the devices is due. */
export function dueAtOf(document: WebhookDocument, current: ReportedState | undefined, now: number): number {
  const { webhooks, reported, textAt, deviceAt } = document;
  const due = webhooks.flatMap(({ pending, nextAttemptAt }) => (pending.length > 0 ? [nextAttemptAt] : []));
  if (current && current.version !== reported.version) due.push(textAt + quietMs);
  if (current && current.devices !== reported.devices) due.push(deviceAt + quietMs);
  if (reported.devices.length > 0 && wants(document, 'device')) due.push(now + deviceCheckMs);
  return Math.min(...due, Number.MAX_SAFE_INTEGER);
}

export const wants = ({ webhooks }: WebhookDocument, type: WebhookEvent): boolean =>
  webhooks.some(({ events }) => events.includes(type));

type Change = Pick<PendingEvent, 'type' | 'data'>;

function eventsBetween(before: ReportedState, after: ReportedState, seen: SeenRoom): Change[] {
  const { version } = after;
  const text = version !== before.version && { type: 'text' as const, data: { message: 'The text changed.' } };
  const changes = [text, fileChange(before, seen), deviceChange(before, after, seen), roomChange(before, after)];
  const name = !seen.isEncrypted && after.name !== undefined && { name: after.name };
  return changes
    .filter((change) => change !== false)
    .map(({ type, data }) => ({ type, data: { version: seen.state.version, ...name, ...data } }));
}

function fileChange(before: ReportedState, { state, files, isEncrypted }: SeenRoom): Change | false {
  const [known, current] = [new Set(before.files), new Set(state.files)];
  const added = files.filter(({ id }) => !known.has(shortId(id)));
  const removed = before.files.filter((id) => !current.has(id));
  if (added.length + removed.length === 0) return false;
  const entryOf = ({ name, type, size }: StoredFile) => ({ fileName: name, fileType: type, fileSize: size });
  const listed = added.slice(0, maxListed).map(entryOf);
  const only = added.length === 1 && !isEncrypted && added[0];
  const additions = only ? `${only.name} was added.` : counted(added.length, 'file', 'added');
  const message = sentences(additions, counted(removed.length, 'file', 'removed'));
  const counts = { filesAdded: added.length, filesRemoved: removed.length };
  return { type: 'file', data: { message, ...counts, ...(!isEncrypted && { files: listed }) } };
}

function deviceChange(before: ReportedState, after: ReportedState, { isEncrypted }: SeenRoom): Change | false {
  const without = (devices: readonly Device[], others: readonly Device[]) => {
    const ids = new Set(others.map(({ id }) => id));
    return devices.filter(({ id }) => !ids.has(id));
  };
  const joined = without(after.devices, before.devices);
  const left = without(before.devices, after.devices);
  if (joined.length + left.length === 0) return false;
  const namesOf = (devices: readonly Device[]) =>
    isEncrypted ? [] : devices.flatMap(({ name }) => name ?? []).slice(0, maxListed);
  const said = (devices: readonly Device[], verb: string) => {
    const [name] = namesOf(devices);
    if (devices.length === 1) return `${name ?? 'A device'} ${verb}.`;
    return devices.length === 0 ? '' : `${devices.length} devices ${verb}.`;
  };
  const names = !isEncrypted && { joined: namesOf(joined), left: namesOf(left) };
  const counts = { devicesJoined: joined.length, devicesLeft: left.length, deviceCount: after.devices.length };
  const message = sentences(said(joined, 'joined'), said(left, 'left'));
  return { type: 'device', data: { message, ...counts, ...names } };
}

function roomChange(before: ReportedState, after: ReportedState): Change | false {
  const isExtended = before.extendMs !== undefined && before.extendMs === after.extendMs;
  const changes = [
    before.name !== after.name && 'name',
    before.hasPin !== after.hasPin && 'pin',
    // A room that extends itself moves its expiry with every write, which is not worth an event.
    before.expiresAt !== after.expiresAt && !isExtended && 'expiresAt',
    before.extendMs !== after.extendMs && 'extend',
  ].filter((change) => change !== false);
  if (changes.length === 0) return false;
  const expiresAt = toTimestamp(after.expiresAt);
  return { type: 'room', data: { message: 'The room settings changed.', changes, expiresAt } };
}

export const endOfRoom = (version: number, now: number): PendingEvent =>
  newEvent('room', { version, message: 'The room has ended.', ended: true }, now);

const sentences = (...parts: string[]) => parts.filter(Boolean).join(' ');

function counted(count: number, what: string, verb: string): string {
  if (count === 0) return '';
  return count === 1 ? `A ${what} was ${verb}.` : `${count} ${what}s were ${verb}.`;
}

const newEvent = (type: WebhookEvent, data: PendingEvent['data'], at: number): PendingEvent => {
  return { id: `msg_${randomBytes(16).toString('hex')}`, type, at, data };
};

/** A newer event of the text replaces one that waits. */
export function withEvents(webhook: Webhook, events: readonly PendingEvent[], now: number): Webhook {
  const wanted = events.filter(({ type }) => webhook.events.includes(type));
  if (wanted.length === 0) return webhook;
  const hasText = wanted.some(({ type }) => type === 'text');
  // Each webhook has ids of its own: its receiver knows a repetition by them.
  const own = wanted.map((event) => newEvent(event.type, event.data, event.at));
  const pending = [...webhook.pending.filter(({ type }) => !(hasText && type === 'text')), ...own];
  if (pending.length <= maxPending) return { ...webhook, pending };
  const message = 'Too many events were waiting. The oldest ones were dropped.';
  const lastError = { at: now, code: 'DROPPED', message } as const;
  return { ...webhook, pending: pending.slice(-maxPending), lastError };
}

/** The secret of a webhook, which no store has. */
export const webhookSecret = (secret: string, id: string): Buffer =>
  createHmac('sha256', secret).update(`webhook secret ${id}`).digest();

/** Signed as Standard Webhooks: https://www.standardwebhooks.com. */
export function requestFor(webhook: Webhook, event: PendingEvent, secret: string, now: number): WebhookRequest {
  const { url, link } = webhook;
  const roomId = link.slice(link.lastIndexOf('/') + 1);
  const data = { roomId, link, ...event.data };
  const body = JSON.stringify({ type: event.type, timestamp: toTimestamp(event.at), data });
  const sentAt = Math.floor(now / 1000);
  const signature = createHmac('sha256', webhookSecret(secret, webhook.id))
    .update(`${event.id}.${sentAt}.${body}`)
    .digest('base64');
  const headers = {
    'Content-Type': 'application/json',
    'webhook-id': event.id,
    'webhook-timestamp': String(sentAt),
    'webhook-signature': `v1,${signature}`,
  };
  return { url, headers, body };
}
