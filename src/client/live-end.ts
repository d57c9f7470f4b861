/** The live channel as programs use it: with the reason of its end, with the writes of a room, or as a shared text. */
import type { RoomText } from '../protocol/types.ts';
import { anyText, check, checkOptions } from './arguments.ts';
import { type Caret, limitCarets } from './carets.ts';
import type { WriteAnswer } from './connection.ts';
import { PoproomError, versionConflict } from './error.ts';
import type { LiveRoom as BaseLiveRoom, LiveOptions } from './live-channel.ts';
import type { Ended, LiveEvent } from './live-state.ts';
import type { WriteOptions } from './requests.ts';
import { createSharedText, type SharedTextOptions } from './text/create-shared-text.ts';
import type { SharedText } from './text/shared-text.ts';

/**
 * Why a live channel ended:
 * - `left`: the program left the loop, or aborted the signal;
 * - `deleted`, `expired`: the room has ended;
 * - `pin-changed`: the channel was lost, and the room has another PIN now;
 * - `refused`: the server does not admit this client, for example without the PIN or from this origin;
 * - `failed`: any other error, such as a server that repeatedly sends malformed messages.
 */
export interface LiveEnd {
  readonly reason: Ended | 'pin-changed' | 'refused' | 'failed';
  /** The error that the loop threw. */
  readonly error?: PoproomError | undefined;
}

export interface LiveRoom extends Omit<BaseLiveRoom, 'write'> {
  /**
   * Shows others where the caret of this device is, if they ask for carets. Only the last one is sent, at most five times
   * a second, and none without a connection. An edit shows the caret too.
   */
  sendCaret(caret: Caret): void;
  /** Resolves when the loop over the events ends, also if it throws. */
  readonly ended: Promise<LiveEnd>;
  /**
   * Replaces the whole text, as `room.write` does, without counting as a request. Fails with `VERSION_CONFLICT` if
   * `baseVersion` is not the current version, and with `OFFLINE` without a connection.
   */
  write(text: string, options?: LiveWriteOptions): Promise<RoomText>;
  /** The earlier form: resolves with `written` or `conflict`. */
  write(text: string, baseVersion: number): Promise<WriteAnswer>;
}

export type LiveWriteOptions = Pick<WriteOptions, 'baseVersion'>;

/** Others may be faster this many times in a row. */
const maxAttempts = 10;

export function withLiveEnd(live: BaseLiveRoom): LiveRoom {
  let end = Promise.withResolvers<LiveEnd>();
  let hasStarted = false;
  /** The text of the last event. */
  let latest: Pick<RoomText, 'version' | 'content'> = { version: 0, content: '' };

  async function* iterate(): AsyncGenerator<LiveEvent, Ended> {
    if (hasStarted) end = Promise.withResolvers();
    hasStarted = true;
    const { resolve } = end;
    const events = live[Symbol.asyncIterator]();
    let wasConnected = false;
    try {
      for (;;) {
        const { done, value: event } = await events.next();
        if (done) {
          resolve({ reason: event });
          return event;
        }
        wasConnected ||= event.type === 'connected';
        if (event.type === 'snapshot') latest = event.content;
        if (event.type === 'content') latest = event;
        yield event;
      }
    } catch (error) {
      resolve(endFor(error, wasConnected));
      throw error;
    } finally {
      await events.return('left');
      resolve({ reason: 'left' });
    }
  }

  /** Without a base version, tries again with the version that the server has. */
  async function write(text: string, options: LiveWriteOptions): Promise<RoomText> {
    checkOptions(options);
    const { baseVersion } = options;
    let base = baseVersion ?? latest.version;
    for (let attempts = 1; ; attempts++) {
      const answer = await live.write(text, base);
      const { version, timestamp } = answer;
      if (answer.type === 'written') return { content: text, version, timestamp };
      if (baseVersion !== undefined || attempts >= maxAttempts) throw conflictError(answer);
      base = version;
    }
  }

  /** The server omits a long text that this client has received. */
  function conflictError({ version, timestamp, ...answer }: Extract<WriteAnswer, { type: 'conflict' }>): PoproomError {
    const { content = latest.version === version ? latest.content : undefined } = answer;
    return versionConflict({ ...(content !== undefined && { content }), version, timestamp });
  }

  return {
    ...live,
    sendCaret: limitCarets(live.sendCaret),
    get ended() {
      return end.promise;
    },
    [Symbol.asyncIterator]: iterate,
    write: (async (text: string, options: LiveWriteOptions | number = {}) => {
      check('text', text, anyText);
      return typeof options === 'number' ? live.write(text, options) : write(text, options);
    }) as LiveRoom['write'],
  };
}

const pinCodes: readonly string[] = ['PIN_REQUIRED', 'PIN_INCORRECT', 'PIN_LOCKED'];
const failureCodes: readonly string[] = ['INVALID_RESPONSE', 'DATA_DAMAGED', 'ROLLBACK', 'FORK'];

const endFor = (error: unknown, wasConnected: boolean): LiveEnd =>
  error instanceof PoproomError ? { reason: reasonFor(error, wasConnected), error } : { reason: 'failed' };

function reasonFor({ code }: PoproomError, wasConnected: boolean): LiveEnd['reason'] {
  if (code === 'ROOM_EXPIRED') return 'expired';
  if (wasConnected && code === 'ROOM_NOT_FOUND') return 'deleted';
  if (wasConnected && pinCodes.includes(code)) return 'pin-changed';
  return failureCodes.includes(code) ? 'failed' : 'refused';
}

export interface LiveTextOptions extends Omit<SharedTextOptions, 'deviceId'> {
  /** Leaves the room when it aborts, as `close()` does. */
  signal?: AbortSignal | undefined;
}

export interface LiveText extends SharedText {
  /** Resolves with the reason why the channel ended. Rejects if the room could not be joined. */
  readonly ended: Promise<Ended>;
}

/** A shared text with its own live channel. */
export function createRoomText(
  openLive: (options: LiveOptions) => BaseLiveRoom,
  deviceId: string | undefined,
  { signal, ...options }: LiveTextOptions,
): LiveText {
  const text = createSharedText({ ...options, deviceId });
  const leaving = new AbortController();
  const closeText = text.close;
  const close = () => {
    closeText();
    leaving.abort();
  };
  signal?.addEventListener('abort', close);
  if (signal?.aborted) close();

  const ended = follow(openLive({ text, signal: leaving.signal })).finally(() => {
    signal?.removeEventListener('abort', close);
    closeText();
  });
  // Avoids an unhandled rejection in programs that do not use `ended`.
  ended.catch(() => undefined);
  return Object.assign(text, { ended, close });
}

/** Runs the channel. The text receives its messages separately. */
async function follow(live: BaseLiveRoom): Promise<Ended> {
  const events = live[Symbol.asyncIterator]();
  let next = await events.next();
  while (!next.done) next = await events.next();
  return next.value;
}
