/** A room as it happens: an async iterator that outlives interruptions, and a way to write. */
import type { Closed, Join, ServerMessage, TextEdited } from '../protocol/types.ts';
import { type Connection, connect } from './connection.ts';
import { PoproomError, unreachable } from './error.ts';
import { probe, reachServer, whyNotResumed, whyRefused } from './refusal.ts';
import { createResumeToken } from './resume-token.ts';
import { isFinal, waitingTime } from './retry.ts';
import type { RoomAccess } from './room-access.ts';
import { channelOf } from './text/channel.ts';
import type { SharedText } from './text/shared-text.ts';
import type { Wire } from './wire.ts';
import { createWrites, errorIn, type WriteAnswer } from './writes.ts';

type Change = Exclude<ServerMessage, { type: 'edit' | 'written' | 'conflict' | 'error' | 'heartbeat' | 'closed' }>;

/** What the server tells, and how the connection is. */
export type LiveEvent =
  | Change
  | { type: 'connecting' }
  | { type: 'connected' }
  /** Not connected, and why; at `until` it is tried again. */
  | { type: 'waiting'; until: Date; error: PoproomError };

export type Ended = 'deleted' | 'expired' | 'left';

export interface LiveOptions {
  signal?: AbortSignal | undefined;
  /** Keeps this text the same as that of the room; its edits are sent through this channel. */
  text?: SharedText | undefined;
  /** The newest token of an earlier channel to this room: entering then does not count, and needs no PIN. */
  resumeToken?: string | undefined;
  /** Receives the newest token every 25 seconds. It opens the room until ten minutes after the end: keep it secret. */
  onResumeToken?: ((token: string) => void) | undefined;
}

/**
 * Iterating enters the room and stays in it, through interruptions, until it is gone or `signal` says to leave; the
 * return value says which. It throws errors that waiting does not fix: an unknown room, a PIN that is missing or wrong,
 * a server that sends malformed messages again and again.
 */
export interface LiveRoom {
  [Symbol.asyncIterator](): AsyncGenerator<LiveEvent, Ended>;
  /** Stores a text that is based on a version. Fails with `OFFLINE` while there is no connection. */
  write(content: string, baseVersion: number): Promise<WriteAnswer>;
  /** Tries again now; to be called when the device wakes up or the network is back. */
  wake(): void;
  /** Drops the connection and tries again later; to be called when the network is known to be gone. */
  interrupt(): void;
  /** Comes back under another name. */
  rename(deviceName: string): void;
}

/** After so many connections in a row that ended with a message the protocol does not have. */
const maxViolations = 3;
/** For a server that is there to say so. */
const answerWithinMs = 8_000;

export function openLive(wire: Wire, path: string, access: RoomAccess, options: LiveOptions = {}): LiveRoom {
  const { signal, text } = options;
  const token = createResumeToken(options.resumeToken, options.onResumeToken);
  const writes = createWrites();
  const textChannel = text && channelOf(text);
  let { deviceName } = access;
  let connection: Connection | undefined;
  let seq: number | undefined;
  const rest = createRest();
  /** Whether the text has been told that this connection is open. */
  let isTextConnected = false;
  /** Why the last connection was ended from here. */
  let violation: PoproomError | undefined;
  /** Of the try that is under way. */
  let attempt = new AbortController();

  /** Ends what is open or under way, and the pause after it. */
  function startOver(): void {
    attempt.abort();
    rest.skip();
  }

  async function* follow(): AsyncGenerator<LiveEvent, Ended> {
    // Whoever follows anew knows nothing yet.
    seq = undefined;
    signal?.addEventListener('abort', startOver);
    try {
      const end = yield* stay();
      if (end !== 'left') textChannel?.onFailed(roomEnded[end]());
      return end;
    } catch (error) {
      if (error instanceof PoproomError) textChannel?.onFailed(error);
      throw error;
    } finally {
      signal?.removeEventListener('abort', startOver);
    }
  }

  async function* stay(): AsyncGenerator<LiveEvent, Ended> {
    let failures = 0;
    let violations = 0;
    while (!signal?.aborted) {
      const startedAt = Date.now();
      yield { type: 'connecting' };
      const end = yield* visit(failures);
      if (typeof end === 'string') return end;
      if (signal?.aborted) break;
      // Who has been inside knows the PIN: others under the same address have tried wrong ones, and it is waited out.
      const lockedByOthers = end.code === 'PIN_LOCKED' && seq !== undefined;
      if (isFinal(end) && !lockedByOthers) throw end;
      violations = end === violation ? violations + 1 : 0;
      if (violations >= maxViolations) throw end;
      // Who was inside for a while starts anew; who is thrown out at once is not let into a busy loop.
      failures = Date.now() - startedAt > 10_000 ? 0 : failures + 1;
      const ms = waitingTime(end, failures);
      yield { type: 'waiting', until: new Date(Date.now() + ms), error: end };
      await rest.for(ms);
    }
    return 'left';
  }

  /** From one opening of the channel to its end: that of the room, or an error. */
  async function* visit(failures: number): AsyncGenerator<LiveEvent, 'deleted' | 'expired' | PoproomError> {
    const reached = await reach(failures);
    if (reached instanceof PoproomError) return reached;
    connection = reached;
    let end = unreachable();
    /** The end only if the server closes the channel upon it: else it was about one message. */
    let refusal: PoproomError | undefined;
    try {
      if (signal?.aborted) return end;
      let entered = false;
      for await (const message of reached.messages) {
        if (message.type === 'closed' && message.reason !== 'shutdown') return message.reason;
        if (message.type === 'closed') end = restarting(message);
        refusal = message.type === 'error' ? errorIn(message) : undefined;
        if (!isAdmission(message)) continue;
        if (!entered) yield { type: 'connected' };
        entered = true;
        if (isChange(message)) yield message;
      }
      violation = reached.violation();
      return violation ?? (refusal && reached.wasClosed() ? refusal : end);
    } finally {
      reached.close();
    }
  }

  /** A line that went dead in a sleep says nothing: every question has its time, and all can be cut short. */
  async function reach(failures: number): Promise<Connection | PoproomError> {
    attempt = new AbortController();
    if (signal?.aborted) attempt.abort();
    const { signal: calledOff } = attempt;
    const inTime = () => AbortSignal.any([calledOff, AbortSignal.timeout(answerWithinMs)]);
    const protocols = token.protocols();
    try {
      // Asking first costs nothing of the limit, opening a channel does. Only who was inside a moment ago does not ask:
      // after a sleep the question may go out on a line that is dead, while a channel opens a line of its own.
      if (failures > 0) await (protocols ? reachServer : probe)(wire, inTime());
    } catch (error) {
      return error instanceof PoproomError ? error : unreachable(error);
    }
    isTextConnected = false;
    return connect(`${wire.url}${path}/live`, toJoin(), {
      headers: wire.headers,
      protocols: protocols ?? [],
      signal: calledOff,
      takes: note,
      // At once: who waits for an answer within the loop does not come to its end.
      ended() {
        connection = undefined;
        textChannel?.onDisconnected();
        writes.fail(unreachable());
      },
    }).catch(async () => {
      const reason = protocols && (await whyNotResumed(wire, token, inTime()));
      return reason ?? whyRefused(wire, path, access.pin, inTime());
    });
  }

  function toJoin(): Join {
    const { pin, deviceId } = access;
    const join = { type: 'join', pin, deviceId, deviceName, seq } as Join;
    if (!textChannel) return join;
    const { needsSnapshot, ...ofText } = textChannel.join(deviceId);
    return { ...join, ...ofText, ...(needsSnapshot && { seq: undefined }) } as Join;
  }

  /** Answers go to those who wait for them at once, not when the iterator comes to them. */
  function note(message: ServerMessage): boolean {
    token.takeFrom(message);
    // Not the highest: it goes down where a server comes back without the last changes.
    if ('seq' in message) seq = message.seq;
    // Before the text, which may have to join again after it.
    const isSettled = writes.settle(message);
    return tellText(message) || isSettled;
  }

  /** With its first message the server has admitted this session, and takes edits. */
  function tellText(message: ServerMessage): boolean {
    const isTaken = textChannel?.onMessage(message) ?? false;
    if (textChannel && !isTextConnected && isAdmission(message)) {
      isTextConnected = true;
      textChannel.onConnected({ send: (edit) => connection?.send(edit), reconnect: () => connection?.close() });
    }
    return isTaken;
  }

  return {
    [Symbol.asyncIterator]: follow,

    write(content, baseVersion) {
      if (!isVersion(baseVersion)) return Promise.reject(new TypeError('A version is a whole number, from 0.'));
      return connection ? writes.send(connection, content, baseVersion) : Promise.reject(unreachable());
    },

    wake() {
      if (!connection?.isFresh()) startOver();
    },

    interrupt: () => connection?.close(),

    rename(name) {
      deviceName = name;
      startOver();
    },
  };
}

const isVersion = (version: number) => Number.isSafeInteger(version) && version >= 0;

const restarting = ({ reconnectAfter = 1000 }: Closed) =>
  new PoproomError('UNAVAILABLE', 'The server restarts.', { retryAfter: reconnectAfter / 1000 });

const noChange: ReadonlySet<ServerMessage['type']> = new Set(['written', 'conflict', 'error', 'heartbeat', 'closed']);

/** Whether only a session that was admitted gets such a message. */
function isAdmission(message: ServerMessage): message is Change | TextEdited {
  return !noChange.has(message.type);
}

/** Edits are for the text that follows the room. */
function isChange(message: ServerMessage): message is Change {
  return isAdmission(message) && message.type !== 'edit';
}

const roomEnded = {
  deleted: () => new PoproomError('ROOM_NOT_FOUND', 'This room was deleted.'),
  expired: () => new PoproomError('ROOM_EXPIRED', 'This room has expired.'),
};

/** A pause that can be cut short, even before it begins. */
function createRest() {
  let skipped = false;
  let end = () => {};

  return {
    async for(ms: number): Promise<void> {
      if (!skipped) {
        const { promise, resolve } = Promise.withResolvers<void>();
        const timer = setTimeout(resolve, ms);
        end = resolve;
        await promise;
        clearTimeout(timer);
      }
      skipped = false;
    },
    skip(): void {
      skipped = true;
      end();
    },
  };
}
