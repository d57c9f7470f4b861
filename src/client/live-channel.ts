/** Runs one live channel: connects, passes messages on, and reconnects, as its state says. */
import type { Join, ServerMessage } from '../protocol/types.ts';
import { type AsyncQueue, createAsyncQueue } from './async-queue.ts';
import { ping, pingWithinLimit, throwRefusal } from './connect-failure.ts';
import { type Connection, connect } from './connection.ts';
import type { ChannelCodec } from './encryption.ts';
import { offlineError, PoproomError, toPoproomError } from './error.ts';
import { createDeviceList, type Ended, isChange, type LiveEvent } from './live-event.ts';
import {
  type Connecting,
  initialState,
  isConnected,
  type LiveState,
  onConnectFailed,
  onConnectionEnd,
  onDrained,
  onLeave,
  onMessage,
  onOpen,
  onRetry,
  onStart,
} from './live-state.ts';
import type { ResumeToken } from './resume-token.ts';
import { delay } from './retry.ts';
import { accessHeaders, type RoomAccess } from './room-access.ts';
import { channelOf } from './text/channel.ts';
import type { SharedText } from './text/shared-text.ts';
import type { Transport } from './transport.ts';
import { createWrites, type WriteAnswer } from './writes.ts';

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

export interface LiveChannel {
  /** Runs the channel. It can be called once. */
  run(): AsyncGenerator<LiveEvent, Ended>;
  write(content: string, baseVersion: number): Promise<WriteAnswer>;
  wake(): void;
  interrupt(): void;
  reconnect(): void;
}

const responseTimeoutMs = 8_000;
/** In UTF-16 code units of messages that the program has not read yet. */
const maxUnread = 64 * 1024 * 1024;

export function createLiveChannel(
  transport: Transport,
  path: string,
  currentAccess: () => RoomAccess,
  token: ResumeToken,
  { signal, text }: LiveOptions,
): LiveChannel {
  const textChannel = text && channelOf(text);
  const writes = createWrites();
  const devices = createDeviceList();
  let state: LiveState = initialState;
  /** Set for an encrypted room when its keys are known. */
  let codec: ChannelCodec | undefined;

  /** Stops what the previous state has started, unless it continues. */
  function enter(next: LiveState): void {
    const { scope } = state;
    state = next;
    if (scope !== next.scope) scope?.abort();
  }

  const leave = () => enter(onLeave(state));
  const interrupt = () => enter(onConnectionEnd(state, 'lost'));
  const reconnect = () => enter(onRetry(state));

  /** Does what each state requires. The channel is `joining`, `open` and `disconnected` only within `runConnection`. */
  async function* run(): AsyncGenerator<LiveEvent, Ended> {
    signal?.addEventListener('abort', leave);
    if (signal?.aborted) leave();
    try {
      for (;;) {
        if (state.name === 'idle') {
          yield { type: 'connecting' };
          enter(onStart(state));
        } else if (state.name === 'connecting') {
          yield* runConnection(state);
          enter(onDrained(state));
        } else if (state.name === 'waiting') {
          const { ms, error, scope } = state;
          yield { type: 'waiting', until: new Date(Date.now() + ms), error };
          await delay(ms, scope.signal).catch(() => undefined);
          reconnect();
        } else if (state.name === 'ended') {
          return finish(state.reason);
        }
      }
    } finally {
      signal?.removeEventListener('abort', leave);
      leave();
    }
  }

  function finish(reason: Ended | PoproomError): Ended {
    if (reason !== 'left') textChannel?.onFailed(typeof reason === 'string' ? roomEnded[reason]() : reason);
    if (typeof reason === 'string') return reason;
    throw reason;
  }

  /**
   * Opens a connection and reports its events until it ends, or finds out why it did not open. Every step has a timeout
   * and can be aborted, because a connection that died during sleep never responds.
   */
  async function* runConnection({ scope, progress }: Connecting): AsyncGenerator<LiveEvent, void> {
    const withTimeout = () => AbortSignal.any([scope.signal, AbortSignal.timeout(responseTimeoutMs)]);
    const onFailed = (error: unknown) => enter(onConnectFailed(state, toPoproomError(error)));
    const protocols = token.protocols();
    // Opening a channel counts as a request, this check does not. It is skipped on the first attempt, because after
    // sleep it might use a dead connection, while a channel opens a new one.
    if (progress.failures > 0) await (protocols ? ping : pingWithinLimit)(transport, withTimeout()).catch(onFailed);
    // The connection opens while the keys are derived, but not for a key with a typo or a room that is not encrypted.
    if (!scope.signal.aborted) await currentAccess().encryption?.requestSalt().catch(onFailed);
    if (scope.signal.aborted) return;
    const join = prepareCodec().then(() => toJoin(progress.seq));
    const isPrepared = join.then(() => true, onFailed);
    yield* openConnection(scope.signal, join, protocols);
    if (scope.signal.aborted || !(await isPrepared) || state.name !== 'connecting') return;
    const headers = await accessHeaders(currentAccess());
    await throwRefusal(transport, path, headers, protocols && token, withTimeout).catch(onFailed);
  }

  async function prepareCodec(): Promise<void> {
    if (codec) return;
    const room = await currentAccess().encryption?.unlock();
    codec ??= room && (textChannel ? textChannel.bindCodec(room.createCodec) : room.createCodec(undefined));
  }

  function toJoin(seq: number | undefined): Join {
    const { pin, deviceId, deviceName } = currentAccess();
    const join = { type: 'join', pin: pin.current, deviceId, deviceName, seq, deviceChanges: true } as Join;
    if (!textChannel) return codec?.join(join) ?? join;
    const { needsSnapshot, ...textJoin } = textChannel.join(deviceId);
    const withText = { ...join, ...textJoin, ...(needsSnapshot && { seq: undefined }) } as Join;
    return codec?.join(withText) ?? withText;
  }

  /** Returns the events of the connection, which end with it. The program may read them later. */
  function openConnection(signal: AbortSignal, join: Promise<Join>, protocols: string[] = []): AsyncQueue<LiveEvent> {
    const events = createAsyncQueue<LiveEvent>();
    connect(`${transport.url}${path}/live`, join, {
      headers: transport.headers,
      protocols,
      signal,
      onOpen: (connection) => enter(onOpen(state, sealed(connection, events))),
      onMessage(received, length) {
        const message = devices.complete(codec?.open(received) ?? received);
        receive(message, events);
        // The list of a change may be longer than the message.
        if (isChange(message)) events.push(message, message.type === 'devices' ? length + 8 * devices.size : length);
        // The program still receives queued events. Rejoining delivers later changes.
        if (events.size > maxUnread) interrupt();
      },
      // Immediately, because a program that awaits a write inside its loop does not read on.
      onEnd(end) {
        enter(onConnectionEnd(state, end));
        events.end();
        codec?.onDisconnected();
        textChannel?.onDisconnected();
        const error = state.name === 'disconnected' ? state.error : offlineError();
        writes.fail(error.code === 'RATE_LIMITED' ? error : offlineError());
      },
    });
    return events;
  }

  /** A connection that seals what is sent, if the room is encrypted. */
  function sealed(connection: Connection, events: AsyncQueue<LiveEvent>): Connection {
    if (!codec) return connection;
    const send = codec.onConnected({ send: connection.send, receive: (message) => receive(message, events) });
    return { ...connection, send };
  }

  /** Writes and the text receive a message on arrival, before the program reads it. */
  function receive(message: ServerMessage, events: AsyncQueue<LiveEvent>): void {
    const before = state.name;
    token.takeFrom(message);
    currentAccess().pin.onMessage(message);
    enter(onMessage(state, message));
    // Before the text, which may reconnect.
    writes.onMessage(message);
    textChannel?.onMessage(message);
    if (before !== 'joining' || state.name !== 'open') return;
    events.push({ type: 'connected' }, 0);
    textChannel?.onConnected({ send: state.connection.send, reconnect: interrupt });
  }

  return {
    run,
    async write(content, baseVersion) {
      if (!isConnected(state)) throw offlineError();
      return writes.send(state.connection, content, baseVersion);
    },
    wake() {
      if (!isConnected(state) || !state.connection.isFresh()) reconnect();
    },
    interrupt,
    reconnect,
  };
}

const roomEnded = {
  deleted: () => new PoproomError('ROOM_NOT_FOUND', 'This room was deleted.'),
  expired: () => new PoproomError('ROOM_EXPIRED', 'This room has expired.'),
};
