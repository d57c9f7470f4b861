/**
 * Events between nodes, by the publish and subscribe of Redis. Listeners on this node are notified directly; a node
 * ignores its own messages when Redis delivers them.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { EventBus, RoomChange, Subscription } from '../core/ports/rooms.ts';
import type { TextEntry } from '../core/ports/texts.ts';
import type { RoomCode } from '../core/room-code.ts';
import { isAnswer, type Redis, unavailable } from '../redis/connection.ts';
import { createDeadlines } from '../redis/deadlines.ts';
import { createLocalBus } from './local.ts';

/** Rooms that read the store again without a pause, and the pause before the next ones. */
const catchUpBatch = 500;
const catchUpPauseMs = 25;

export async function openRedisBus(redis: Redis, prefix: string): Promise<EventBus & { close(): void }> {
  const local = createLocalBus();
  const node = randomBytes(6).toString('base64url');
  const changes = `${prefix}:changes:`;
  const channelOf = (code: RoomCode) => changes + code;
  /** The channel on which a node reports that the outcome of its commands is unknown. */
  const unsure = `${prefix}:unsure`;
  /** The rooms that have listeners on this node: one subscription each. */
  const rooms = new Map<RoomCode, { listeners: number; ready: Promise<void> }>();
  /** Rooms whose listeners have yet to be notified that they may have missed something. */
  let outdated = new Set<RoomCode>();

  function onMessage(message: string, channel: string): void {
    const { node: sender, change } = decodeMessage(message);
    if (sender === node) return;
    if (channel === unsure) catchUp();
    else local.publish(channel.slice(changes.length) as RoomCode, change);
  }

  const subscriber = await redis.listen({ onMessage, onReconnect: catchUp });
  const deadlines = createDeadlines({ probe: subscriber.ping, isAnswer, recovered: catchUp });

  async function listen(channel: string): Promise<void> {
    try {
      await deadlines.within(() => subscriber.subscribe(channel));
    } catch (error) {
      throw unavailable(error);
    }
  }

  function join(code: RoomCode): Promise<void> {
    const room = rooms.get(code) ?? { listeners: 0, ready: listen(channelOf(code)) };
    room.listeners += 1;
    rooms.set(code, room);
    // Callers that await it see the failure; without a handler it would end the process.
    room.ready.catch(() => undefined);
    return room.ready;
  }

  function leave(code: RoomCode): void {
    const room = rooms.get(code);
    if (!room || --room.listeners > 0) return;
    rooms.delete(code);
    subscriber.unsubscribe(channelOf(code)).catch(() => undefined);
  }

  /** Messages may have been lost while this node could not receive any: all listeners read the store. */
  function catchUp(): void {
    const isRunning = outdated.size > 0;
    outdated = new Set(rooms.keys());
    if (!isRunning) void notifyOutdated();
  }

  /** In batches: the reads of all rooms together would delay every other command. */
  async function notifyOutdated(): Promise<void> {
    for (let notified = 1; outdated.size > 0; notified++) {
      const code = outdated.values().next().value as RoomCode;
      outdated.delete(code);
      local.publish(code, { seq: 0 });
      if (notified % catchUpBatch === 0) await pause(catchUpPauseMs);
    }
  }

  redis.onRecovery(() => {
    catchUp();
    // A command of this node may have succeeded without a response, and then no node was notified.
    redis.send('', ['PUBLISH', unsure, node]).catch(() => undefined);
  });
  await listen(unsure).catch((error) => {
    subscriber.close();
    throw error;
  });

  return {
    publish(code, change) {
      local.publish(code, change);
      redis.send('', ['PUBLISH', channelOf(code), encodeMessage(node, change)]).catch(() => undefined);
    },

    subscribe(code, listener): Subscription {
      const subscription = local.subscribe(code, listener);
      const ready = join(code);
      let hasLeft = false;
      return {
        ready,
        leave() {
          if (hasLeft) return;
          hasLeft = true;
          subscription.leave();
          leave(code);
        },
      };
    },

    close() {
      void deadlines.finish();
      subscriber.close();
    },
  };
}

/** Bytes of JSON. Without an entry, a node reads the store. */
const maxEntryBytes = 8 * 1024;

const receivedPrefix = 'received ';
const caretPrefix = 'caret ';

/**
 * The message format between nodes: `NODE SEQ`, then ` {"entry": …}` for a small edit of the text, ` devices` if only
 * the devices changed, ` received FILE` if a one-time file was received, or ` caret {…}` if a device moved its caret.
 * Versions without a text log send and read only the first two words.
 */
function encodeMessage(node: string, { seq, entry, devicesOnly, received, caret }: RoomChange): string {
  const head = `${node} ${seq}`;
  if (devicesOnly) return `${head} devices`;
  if (caret) return `${head} ${caretPrefix}${JSON.stringify(caret)}`;
  if (received !== undefined) return `${head} ${receivedPrefix}${received}`;
  const json = entry && JSON.stringify(entry);
  return json && Buffer.byteLength(json) <= maxEntryBytes ? `${head} {"entry":${json}}` : head;
}

/** A malformed payload or seq is ignored, so that listeners read the store. */
function decodeMessage(message: string): { node: string; change: RoomChange } {
  const [node = '', seq] = message.split(' ', 2);
  const payload = message.slice(`${node} ${seq} `.length);
  const known = Number.isSafeInteger(Number(seq)) ? Number(seq) : 0;
  if (payload === 'devices') return { node, change: { seq: known, devicesOnly: true } };
  if (payload.startsWith(receivedPrefix)) {
    return { node, change: { seq: known, received: payload.slice(receivedPrefix.length) } };
  }
  const caret = payload.startsWith(caretPrefix) ? parseJson(payload.slice(caretPrefix.length)) : undefined;
  if (caret) return { node, change: { seq: known, caret: caret as NonNullable<RoomChange['caret']> } };
  const entry = entryIn(payload);
  return { node, change: entry ? { seq: known, entry } : { seq: known } };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function entryIn(payload: string): TextEntry | undefined {
  const { version, edits, sealed, deviceId, ref, writtenAt } = Object(Object(parseJson(payload)).entry);
  const entry = { version, edits, deviceId, ref, writtenAt, ...(typeof sealed === 'string' && { sealed }) };
  return isEntry(entry) ? entry : undefined;
}

function isEntry({ version, edits, deviceId, ref, writtenAt }: Record<string, unknown>): boolean {
  const hasNumbers = Number.isSafeInteger(version) && Number.isFinite(writtenAt);
  return hasNumbers && isTextOrMissing(deviceId) && isTextOrMissing(ref) && Array.isArray(edits) && edits.every(isEdit);
}

function isEdit(edit: unknown): boolean {
  const { from, to, insert } = Object(edit);
  return Number.isSafeInteger(from) && Number.isSafeInteger(to) && typeof insert === 'string';
}

const isTextOrMissing = (value: unknown): boolean => value === undefined || typeof value === 'string';
