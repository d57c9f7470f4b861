/** The live channel of a room: an async iterator that reconnects automatically, and a way to write. */
import type { Closed, Join, ServerMessage, TextEdited } from '../protocol/types.ts';
import { findRefusalReason, findResumeFailure, ping, pingWithinLimit } from './connect-failure.ts';
import { type Connection, connect } from './connection.ts';
import { offlineError, PoproomError } from './error.ts';
import { createResumeToken } from './resume-token.ts';
import { isFinal, retryDelay } from './retry.ts';
import type { RoomAccess } from './room-access.ts';
import { channelOf } from './text/channel.ts';
import type { SharedText } from './text/shared-text.ts';
import type { Transport } from './transport.ts';
import { createWrites, toError, type WriteAnswer } from './writes.ts';

type Change = Exclude<ServerMessage, { type: 'edit' | 'written' | 'conflict' | 'error' | 'heartbeat' | 'closed' }>;

/** A change of the room, or of the connection. */
export type LiveEvent =
  | Change
  | { type: 'connecting' }
  | { type: 'connected' }
  /** Not connected because of `error`. The next attempt is at `until`. */
  | { type: 'waiting'; until: Date; error: PoproomError };

/** Why the live channel ended: the room was deleted or has expired, or the program left it. */
export type Ended = 'deleted' | 'expired' | 'left';

export interface LiveOptions {
  /** Leaves the room when it aborts. */
  signal?: AbortSignal | undefined;
  /** Synchronizes this text with that of the room through this channel. */
  text?: SharedText | undefined;
  /** The newest token of an earlier channel. Joining then does not count as a request, and needs no PIN. */
  resumeToken?: string | undefined;
  /** Called with a new token every 25 seconds. It opens the room until 10 minutes after the channel ends: keep it secret. */
  onResumeToken?: ((token: string) => void) | undefined;
}

/**
 * Iterating joins the room and reconnects after interruptions, until the room ends or `signal` aborts; the return value
 * says which. It throws errors that waiting does not resolve: an unknown room, a missing or wrong PIN, a server that
 * repeatedly sends malformed messages.
 */
export interface LiveRoom {
  [Symbol.asyncIterator](): AsyncGenerator<LiveEvent, Ended>;
  /** Writes a text based on a version. Resolves with `written` or `conflict`; fails with `OFFLINE` without a connection. */
  write(content: string, baseVersion: number): Promise<WriteAnswer>;
  /** Reconnects now if the connection may be dead. Call it when the device wakes up or the network returns. */
  wake(): void;
  /** Closes the connection and reconnects later. Call it when the network is known to be lost. */
  interrupt(): void;
  /** Changes the name of this device. Reconnects to do so. */
  rename(deviceName: string): void;
}

/** Consecutive connections that ended with a malformed message. */
const maxViolations = 3;
const responseTimeoutMs = 8_000;

export function openLive(transport: Transport, path: string, access: RoomAccess, options: LiveOptions = {}): LiveRoom {
  const { signal, text } = options;
  const token = createResumeToken(options.resumeToken, options.onResumeToken);
  const writes = createWrites();
  const textChannel = text && channelOf(text);
  let { deviceName } = access;
  let connection: Connection | undefined;
  let seq: number | undefined;
  const reconnectDelay = createSkippableDelay();
  /** Whether the text knows that this connection is open. */
  let isTextConnected = false;
  /** The malformed message because of which the last connection was closed. */
  let violation: PoproomError | undefined;
  /** Aborts the current connection attempt or connection. */
  let attempt = new AbortController();

  /** Ends the connection or attempt, and skips the delay after it. */
  function reconnect(): void {
    attempt.abort();
    reconnectDelay.skip();
  }

  async function* follow(): AsyncGenerator<LiveEvent, Ended> {
    // A new iterator starts with a snapshot.
    seq = undefined;
    signal?.addEventListener('abort', reconnect);
    try {
      const end = yield* connectRepeatedly();
      if (end !== 'left') textChannel?.onFailed(roomEnded[end]());
      return end;
    } catch (error) {
      if (error instanceof PoproomError) textChannel?.onFailed(error);
      throw error;
    } finally {
      signal?.removeEventListener('abort', reconnect);
    }
  }

  async function* connectRepeatedly(): AsyncGenerator<LiveEvent, Ended> {
    let failures = 0;
    let violations = 0;
    while (!signal?.aborted) {
      const startedAt = Date.now();
      yield { type: 'connecting' };
      const end = yield* connectOnce(failures);
      if (typeof end === 'string') return end;
      if (signal?.aborted) break;
      // This client has given the correct PIN, so others with its address caused the lock. Wait until it ends.
      const lockedByOthers = end.code === 'PIN_LOCKED' && seq !== undefined;
      if (isFinal(end) && !lockedByOthers) throw end;
      violations = end === violation ? violations + 1 : 0;
      if (violations >= maxViolations) throw end;
      // Reset after a connection that lasted. Rejected connections must not become a busy loop.
      failures = Date.now() - startedAt > 10_000 ? 0 : failures + 1;
      const ms = retryDelay(end, failures);
      yield { type: 'waiting', until: new Date(Date.now() + ms), error: end };
      await reconnectDelay.wait(ms);
    }
    return 'left';
  }

  /** Runs one connection. Returns how the room ended, or why the connection did. */
  async function* connectOnce(failures: number): AsyncGenerator<LiveEvent, 'deleted' | 'expired' | PoproomError> {
    const opened = await openConnection(failures);
    if (opened instanceof PoproomError) return opened;
    connection = opened;
    let end = offlineError();
    /** Ends the channel only if the server closes it next; otherwise the error was about one message. */
    let refusal: PoproomError | undefined;
    try {
      if (signal?.aborted) return end;
      let isAdmitted = false;
      for await (const message of opened.messages) {
        if (message.type === 'closed' && message.reason !== 'shutdown') return message.reason;
        if (message.type === 'closed') end = restarting(message);
        refusal = message.type === 'error' ? toError(message) : undefined;
        if (!isAdmission(message)) continue;
        if (!isAdmitted) yield { type: 'connected' };
        isAdmitted = true;
        if (isChange(message)) yield message;
      }
      violation = opened.violation();
      return violation ?? (refusal && opened.wasClosed() ? refusal : end);
    } finally {
      opened.close();
    }
  }

  /** Every step has a timeout and can be aborted, because a connection that died during sleep never responds. */
  async function openConnection(failures: number): Promise<Connection | PoproomError> {
    attempt = new AbortController();
    if (signal?.aborted) attempt.abort();
    const { signal: aborted } = attempt;
    const withTimeout = () => AbortSignal.any([aborted, AbortSignal.timeout(responseTimeoutMs)]);
    const protocols = token.protocols();
    try {
      // Opening a channel counts as a request, this check does not. It is skipped on the first attempt, because after
      // sleep it might use a dead connection, while a channel opens a new one.
      if (failures > 0) await (protocols ? ping : pingWithinLimit)(transport, withTimeout());
    } catch (error) {
      return error instanceof PoproomError ? error : offlineError(error);
    }
    isTextConnected = false;
    return connect(`${transport.url}${path}/live`, toJoin(), {
      headers: transport.headers,
      protocols: protocols ?? [],
      signal: aborted,
      onMessage,
      // Immediately, because a program that awaits a write inside its loop does not read on.
      onEnd() {
        connection = undefined;
        textChannel?.onDisconnected();
        writes.fail(offlineError());
      },
    }).catch(async () => {
      const reason = protocols && (await findResumeFailure(transport, token, withTimeout()));
      return reason ?? findRefusalReason(transport, path, access.pin, withTimeout());
    });
  }

  function toJoin(): Join {
    const { pin, deviceId } = access;
    const join = { type: 'join', pin, deviceId, deviceName, seq } as Join;
    if (!textChannel) return join;
    const { needsSnapshot, ...textJoin } = textChannel.join(deviceId);
    return { ...join, ...textJoin, ...(needsSnapshot && { seq: undefined }) } as Join;
  }

  /** Settles writes on arrival, before the iterator reaches the message. */
  function onMessage(message: ServerMessage): boolean {
    token.takeFrom(message);
    // Not the maximum: it decreases if a server restarts without the last changes.
    if ('seq' in message) seq = message.seq;
    // Before the text, which may reconnect.
    const isSettled = writes.settle(message);
    return passToText(message) || isSettled;
  }

  /** The first change means that the server has admitted this session and accepts edits. */
  function passToText(message: ServerMessage): boolean {
    const isConsumed = textChannel?.onMessage(message) ?? false;
    if (textChannel && !isTextConnected && isAdmission(message)) {
      isTextConnected = true;
      textChannel.onConnected({ send: (edit) => connection?.send(edit), reconnect: () => connection?.close() });
    }
    return isConsumed;
  }

  return {
    [Symbol.asyncIterator]: follow,

    write(content, baseVersion) {
      if (!isVersion(baseVersion)) return Promise.reject(new TypeError('A version is a whole number from 0.'));
      return connection ? writes.send(connection, content, baseVersion) : Promise.reject(offlineError());
    },

    wake() {
      if (!connection?.isFresh()) reconnect();
    },

    interrupt: () => connection?.close(),

    rename(name) {
      deviceName = name;
      reconnect();
    },
  };
}

const isVersion = (version: number) => Number.isSafeInteger(version) && version >= 0;

const restarting = ({ reconnectAfter = 1000 }: Closed) =>
  new PoproomError('UNAVAILABLE', 'The server is restarting.', { retryAfter: reconnectAfter / 1000 });

const replies: ReadonlySet<ServerMessage['type']> = new Set(['written', 'conflict', 'error', 'heartbeat', 'closed']);

/** Whether the message is one that only admitted sessions receive. */
function isAdmission(message: ServerMessage): message is Change | TextEdited {
  return !replies.has(message.type);
}

/** Edits go only to the shared text. */
function isChange(message: ServerMessage): message is Change {
  return isAdmission(message) && message.type !== 'edit';
}

const roomEnded = {
  deleted: () => new PoproomError('ROOM_NOT_FOUND', 'This room was deleted.'),
  expired: () => new PoproomError('ROOM_EXPIRED', 'This room has expired.'),
};

/** A delay that can be skipped, even before it starts. */
function createSkippableDelay() {
  let skipped = false;
  let end = () => {};

  return {
    async wait(ms: number): Promise<void> {
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
