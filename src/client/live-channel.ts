/** The live channel of a room: connects, passes messages on, and reconnects, as its state says. */
import type { Join, ServerMessage } from '../protocol/types.ts';
import type { Caret } from './carets.ts';
import {
  type Connection,
  connect,
  createResumeToken,
  createWrites,
  type ResumeToken,
  type WriteAnswer,
} from './connection.ts';
import { offlineError, PoproomError, toPoproomError } from './error.ts';
import type { Connecting, Ended, LiveEvent, LiveState } from './live-state.ts';
import * as states from './live-state.ts';
import { isRoomInfo } from './response-checks.ts';
import { delay } from './retry.ts';
import { accessHeaders, type RoomAccess } from './room-access.ts';
import type { ChannelCodec } from './room-encryption.ts';
import { isObject, isWhole } from './shapes.ts';
import { channelOf, type SharedText } from './text/shared-text.ts';
import type { Transport } from './transport.ts';

export interface LiveOptions {
  /** Leaves the room when it aborts. */
  signal?: AbortSignal | undefined;
  /** Synchronizes this text with that of the room through this channel. */
  text?: SharedText | undefined;
  /** Also reports the carets of other devices, as `caret` events. */
  carets?: boolean | undefined;
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
  /** Shows others where the caret of this device is, if they ask for carets. Does nothing without a connection. */
  sendCaret(caret: Caret): void;
  /** Reconnects now if the connection may be dead. Call it when the device wakes up or the network returns. */
  wake(): void;
  /** Closes the connection and reconnects later. Call it when the network is known to be lost. */
  interrupt(): void;
  /** Changes the name of this device. Reconnects to do so. */
  rename(deviceName: string): void;
}

export function openLive(transport: Transport, path: string, access: RoomAccess, options: LiveOptions = {}): LiveRoom {
  const token = createResumeToken(options.resumeToken, options.onResumeToken);
  let { deviceName } = access;
  // Read for each connection: the PIN and the name of the device may change.
  const currentAccess = () => ({ ...access, deviceName });
  const openChannel = () => createLiveChannel(transport, path, currentAccess, token, options);
  let channel = openChannel();

  return {
    async *[Symbol.asyncIterator]() {
      // A new iterator starts with a snapshot.
      channel = openChannel();
      return yield* channel.run();
    },

    async write(content, baseVersion) {
      if (!isWhole(baseVersion)) throw new TypeError('A version is a whole number from 0.');
      return channel.write(content, baseVersion);
    },

    sendCaret: (caret) => channel.sendCaret(caret),
    wake: () => channel.wake(),
    interrupt: () => channel.interrupt(),

    rename(name) {
      deviceName = name;
      channel.reconnect();
    },
  };
}

const responseTimeoutMs = 8_000;
/** In UTF-16 code units of messages that the program has not read yet. */
const maxUnread = 64 * 1024 * 1024;

function createLiveChannel(
  transport: Transport,
  path: string,
  currentAccess: () => RoomAccess,
  token: ResumeToken,
  { signal, text, carets }: LiveOptions,
) {
  const textChannel = text && channelOf(text);
  const writes = createWrites();
  const devices = states.createDeviceList();
  let state: LiveState = states.initialState;
  /** Set for an encrypted room when its keys are known. */
  let codec: ChannelCodec | undefined;

  /** Stops what the previous state has started, unless it continues. */
  function enter(next: LiveState): void {
    const { scope } = state;
    state = next;
    if (scope !== next.scope) scope?.abort();
  }

  const leave = () => enter(states.onLeave(state));
  const interrupt = () => enter(states.onConnectionEnd(state, 'lost'));
  const reconnect = () => enter(states.onRetry(state));

  /** Can be called once. The channel is `joining`, `open` and `disconnected` only within `runConnection`. */
  async function* run(): AsyncGenerator<LiveEvent, Ended> {
    signal?.addEventListener('abort', leave);
    if (signal?.aborted) leave();
    try {
      for (;;) {
        if (state.name === 'idle') {
          yield { type: 'connecting' };
          enter(states.onStart(state));
        } else if (state.name === 'connecting') {
          yield* runConnection(state);
          enter(states.onDrained(state));
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
    if (reason !== 'left') textChannel?.onFailed(typeof reason === 'string' ? roomEnded(reason) : reason);
    if (typeof reason === 'string') return reason;
    throw reason;
  }

  /** Reports the events of a connection. Each step has a timeout: one that died during sleep never responds. */
  async function* runConnection({ scope, progress }: Connecting): AsyncGenerator<LiveEvent, void> {
    const withTimeout = () => AbortSignal.any([scope.signal, AbortSignal.timeout(responseTimeoutMs)]);
    const onFailed = (error: unknown) => enter(states.onConnectFailed(state, toPoproomError(error)));
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
    await throwRefusal(protocols !== undefined, withTimeout).catch(onFailed);
  }

  /** Throws the reason why no channel opened, which browsers hide. No limit applies to one that a token resumes. */
  async function throwRefusal(wasResumed: boolean, withTimeout: () => AbortSignal): Promise<never> {
    if (wasResumed) {
      await ping(transport, withTimeout());
      if (token.onRefused()) throw noChannel();
    }
    const headers = await accessHeaders(currentAccess());
    const signal = withTimeout();
    await pingWithinLimit(transport, signal);
    await transport.call(path, isRoomInfo, { headers, signal });
    // Only pages have a location. A plain request says whether the server allows the origin of this one.
    const { location } = globalThis as { location?: { origin: string } };
    if (location && location.origin !== new URL(transport.url).origin)
      await transport.send(`${path}/live`, { signal }).catch((error) => {
        if (error.code === 'ORIGIN_NOT_ALLOWED') throw error;
      });
    // The server responds but the channel did not open: too many are open, or a proxy blocks it.
    throw noChannel();
  }

  async function prepareCodec(): Promise<void> {
    if (codec) return;
    const room = await currentAccess().encryption?.unlock();
    codec ??= room && (textChannel ? textChannel.bindCodec(room.createCodec) : room.createCodec(undefined));
  }

  function toJoin(seq: number | undefined): Join {
    const { pin, deviceId, deviceName, deviceColor } = currentAccess();
    // The colour that it had, which a server that was restarted does not know.
    const device = { deviceId, deviceName, deviceColor: devices.colorOf(deviceId) ?? deviceColor };
    const join = { type: 'join', pin: pin.current(), ...device, seq, deviceChanges: true, carets } as Join;
    if (!textChannel) return codec?.join(join) ?? join;
    const { needsSnapshot, ...textJoin } = textChannel.join(deviceId);
    const withText = { ...join, ...textJoin, ...(needsSnapshot && { seq: undefined }) } as Join;
    return codec?.join(withText) ?? withText;
  }

  /** Returns the events of the connection, which end with it. The program may read them later. */
  function openConnection(signal: AbortSignal, join: Promise<Join>, protocols: string[] = []): EventQueue {
    const events = createEventQueue();
    connect(`${transport.url}${path}/live`, join, {
      headers: transport.headers,
      protocols,
      signal,
      onOpen: (connection) => enter(states.onOpen(state, sealed(connection, events))),
      onMessage(received, length) {
        const message = devices.complete(codec?.open(received) ?? received);
        receive(message, events);
        // The list of a change may be longer than the message.
        if (states.isChange(message))
          events.push(message, message.type === 'devices' ? length + 8 * devices.size() : length);
        // The program still receives queued events. Rejoining delivers later changes.
        if (events.size() > maxUnread) interrupt();
      },
      // Immediately, because a program that awaits a write inside its loop does not read on.
      onEnd(end) {
        enter(states.onConnectionEnd(state, end));
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
  function sealed(connection: Connection, events: EventQueue): Connection {
    if (!codec) return connection;
    const send = codec.onConnected({ send: connection.send, receive: (message) => receive(message, events) });
    return { ...connection, send };
  }

  /** Writes and the text receive a message on arrival, before the program reads it. */
  function receive(message: ServerMessage, events: EventQueue): void {
    const before = state.name;
    token.takeFrom(message);
    currentAccess().pin.onMessage(message);
    enter(states.onMessage(state, message));
    // Before the text, which may reconnect.
    writes.onMessage(message);
    textChannel?.onMessage(message);
    if (before !== 'joining' || state.name !== 'open') return;
    events.push({ type: 'connected' }, 0);
    textChannel?.onConnected({ send: state.connection.send, reconnect: interrupt });
  }

  return {
    run,
    sendCaret(caret: Caret): void {
      if (state.name === 'open') state.connection.send({ type: 'caret', ...caret });
    },
    async write(content: string, baseVersion: number): Promise<WriteAnswer> {
      if (!states.isConnected(state)) throw offlineError();
      return writes.send(state.connection, content, baseVersion);
    },
    wake(): void {
      if (!states.isConnected(state) || !state.connection.isFresh()) reconnect();
    },
    interrupt,
    reconnect,
  };
}

const roomEnded = (reason: Exclude<Ended, 'left'>): PoproomError =>
  reason === 'expired'
    ? new PoproomError('ROOM_EXPIRED', 'This room has expired.')
    : new PoproomError('ROOM_NOT_FOUND', `This ${reason === 'deleted' ? 'room' : 'link'} was ${reason}.`);

const noChannel = () => new PoproomError('UNAVAILABLE', 'The server responds, but does not open a live channel.');

/** Fails if the server is unreachable or the rate limit is used up. Does not count as a request. */
async function pingWithinLimit(transport: Transport, signal: AbortSignal): Promise<void> {
  await ping(transport, signal);
  if (transport.rateLimit?.remaining !== 0) return;
  const retryAfter = Math.max(1, Math.ceil((transport.rateLimit.resetAt.getTime() - Date.now()) / 1000));
  throw new PoproomError('RATE_LIMITED', `Too many requests; try again in ${retryAfter} seconds.`, {
    details: { reason: 'requests', retryAfter },
  });
}

async function ping(transport: Transport, signal: AbortSignal): Promise<void> {
  await transport.call('/livez', isObject, { signal });
}

type EventQueue = ReturnType<typeof createEventQueue>;

/** Filled by callbacks, and read by an async iterator. */
function createEventQueue() {
  const items: { item: LiveEvent; size: number }[] = [];
  let size = 0;
  let isEnded = false;
  let notifyReader = () => {};

  return {
    /** Total size of the queued items. */
    size: () => size,

    push(item: LiveEvent, itemSize: number): void {
      items.push({ item, size: itemSize });
      size += itemSize;
      notifyReader();
    },

    /** The iterator ends after the queued items. */
    end(): void {
      isEnded = true;
      notifyReader();
    },

    async *[Symbol.asyncIterator](): AsyncGenerator<LiveEvent, void> {
      while (true) {
        for (let next = items.shift(); next; next = items.shift()) {
          size -= next.size;
          yield next.item;
        }
        if (isEnded) return;
        const { promise, resolve } = Promise.withResolvers<void>();
        notifyReader = resolve;
        await promise;
      }
    },
  };
}
