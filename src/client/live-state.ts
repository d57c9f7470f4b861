/** The states of a live channel, and the next state after each event. `live-channel.ts` enters it. */
import type { Closed, DeviceChanges, RoomDevice, ServerMessage } from '../protocol/types.ts';
import { type Connection, type ConnectionEnd, toError } from './connection.ts';
import { offlineError, PoproomError } from './error.ts';
import { isFinal, spreadDelay } from './retry.ts';

/** A message about a change of the room. */
type Change = Exclude<
  ServerMessage,
  | { type: 'edit' | 'sealed-edit' | 'sealed-caret' | 'devices-changed' | 'written' | 'conflict' | 'error' }
  | { type: 'heartbeat' | 'closed' }
>;

/** A change of the room, or of the connection. */
export type LiveEvent =
  | Change
  | { type: 'connecting' }
  | { type: 'connected' }
  /** Not connected because of `error`. The next attempt is at `until`. */
  | { type: 'waiting'; until: Date; error: PoproomError };

/** Why the live channel ended: the room was deleted or has expired, or the program left it. */
export type Ended = 'deleted' | 'expired' | 'revoked' | 'left';

/**
 * - `idle`: connects when the program asks for the next event;
 * - `connecting`: checks the server, opens a WebSocket, or finds out why that failed;
 * - `joining`: `join` was sent, and the server has not admitted the session yet;
 * - `open`: the server sends changes and accepts edits;
 * - `disconnected`: there is no connection, and the program may still have to read events of the last one;
 * - `waiting`: until the next attempt;
 * - `ended`: the room ended, the program left, or an error that waiting does not resolve.
 */
export type LiveState =
  | { name: 'idle'; progress: Progress; scope?: undefined }
  | Connecting
  | Connected
  | Disconnected
  // `scope` ends the delay.
  | { name: 'waiting'; progress: Progress; error: PoproomError; ms: number; scope: AbortController }
  | { name: 'ended'; reason: Ended | PoproomError; scope?: undefined };

export interface Connecting {
  name: 'connecting';
  progress: Progress;
  /** Aborts the attempt, and closes the connection that it leads to. */
  scope: AbortController;
}

interface Connected extends Omit<Connecting, 'name'> {
  name: 'joining' | 'open';
  connection: Connection;
  lastMessage?: ServerMessage;
}

interface Disconnected {
  name: 'disconnected';
  progress: Progress;
  error: PoproomError;
  /** Set if the program wants the next attempt without a delay. */
  ms?: 0;
  scope?: undefined;
}

/** The data that a channel keeps when it reconnects. */
interface Progress {
  /** The last sequence number received; undefined if the server never admitted this channel. */
  seq?: number;
  /** When the last attempt started. */
  startedAt: number;
  /** Consecutive attempts without a connection that lasted. */
  failures: number;
  /** Consecutive connections that ended with a malformed message. */
  violations: number;
  /** Milliseconds over which the clients of the server spread if they lose their connections together. */
  spreadMs: number;
}

const maxViolations = 3;
/** A connection that lasted this long resets the delay. Connections that the server rejects must not become a busy loop. */
const lastingMs = 10_000;

export const initialState: LiveState = {
  name: 'idle',
  progress: { startedAt: 0, failures: 0, violations: 0, spreadMs: 0 },
};

export const isConnected = (state: LiveState): state is Connected => state.name === 'joining' || state.name === 'open';

export function onStart(state: LiveState): LiveState {
  if (state.name !== 'idle') return state;
  const progress = { ...state.progress, startedAt: Date.now() };
  return { name: 'connecting', progress, scope: new AbortController() };
}

export const onConnectFailed = (state: LiveState, error: PoproomError): LiveState =>
  state.name === 'connecting' ? disconnected(state, error) : state;

export const onOpen = (state: LiveState, connection: Connection): LiveState =>
  state.name === 'connecting' ? { ...state, name: 'joining', connection } : state;

/** The first change means that the server has admitted the session. */
export function onMessage(state: LiveState, message: ServerMessage): LiveState {
  if (!isConnected(state)) return state;
  if (message.type === 'closed' && message.reason !== 'shutdown') return { name: 'ended', reason: message.reason };
  // Not the maximum: the number decreases if a server restarts without the last changes.
  const spread = message.type === 'heartbeat' && { spreadMs: message.reconnectWithin ?? 0 };
  const progress = 'seq' in message ? { ...state.progress, ...spread, seq: message.seq } : state.progress;
  return { ...state, name: isAdmission(message) ? 'open' : state.name, progress, lastMessage: message };
}

export function onConnectionEnd(state: LiveState, end: ConnectionEnd): LiveState {
  if (!isConnected(state)) return state;
  if (!(end instanceof PoproomError)) return disconnected(state, explainEnd(end, state.lastMessage));
  return disconnected(state, end, state.progress.violations + 1);
}

/** The program has read all events of the last connection. */
export function onDrained(state: LiveState): LiveState {
  if (state.name !== 'disconnected') return state;
  const { error, progress } = state;
  // This client has given the correct PIN or key, so others with its address caused the lock. Wait until it ends.
  const isLocked = error.code === 'PIN_LOCKED' || error.code === 'KEY_LOCKED';
  const isLockedByOthers = isLocked && progress.seq !== undefined;
  if ((isFinal(error) && !isLockedByOthers) || progress.violations >= maxViolations)
    return { name: 'ended', reason: error };
  const failures = Date.now() - progress.startedAt > lastingMs ? 0 : progress.failures + 1;
  const { ms = spreadDelay(error, failures, progress.spreadMs) } = state;
  return { name: 'waiting', progress: { ...progress, failures }, error, ms, scope: new AbortController() };
}

/** The delay is over, or the program wants another connection without a delay. */
export function onRetry(state: LiveState): LiveState {
  if (state.name === 'idle' || state.name === 'ended') return state;
  if (state.name === 'waiting') return { name: 'idle', progress: state.progress };
  return { ...(state.name === 'disconnected' ? state : disconnected(state)), ms: 0 };
}

export const onLeave = (state: LiveState): LiveState =>
  state.name === 'ended' ? state : { name: 'ended', reason: 'left' };

function disconnected({ progress }: Connecting | Connected, error = offlineError(), violations = 0): Disconnected {
  return { name: 'disconnected', progress: { ...progress, violations }, error };
}

/** An error with a ref, or without a close after it, was about one message only. */
function explainEnd(end: 'closed' | 'limited' | 'lost', message: ServerMessage | undefined): PoproomError {
  if (message?.type === 'closed') return restarting(message);
  if (end !== 'lost' && message?.type === 'error' && !message.ref) return toError(message);
  return end === 'limited' ? tooFast() : offlineError();
}

/** After this time, the server accepts as many messages at once as before. */
function tooFast(): PoproomError {
  const message = 'The server closed the live channel: too many messages, or they were read too slowly.';
  return new PoproomError('RATE_LIMITED', message, { details: { reason: 'messages', retryAfter: 2 } });
}

const restarting = ({ reconnectAfter = 1000 }: Closed) =>
  new PoproomError('UNAVAILABLE', 'The server is restarting.', { retryAfter: reconnectAfter / 1000 });

const replies: ReadonlySet<ServerMessage['type']> = new Set(['written', 'conflict', 'error', 'heartbeat', 'closed']);

/** Whether the message is one that only admitted sessions receive. */
const isAdmission = ({ type }: ServerMessage): boolean => !replies.has(type);

/** Edits go only to the shared text, and a caret that could not be opened to nobody. */
export const isChange = (message: Exclude<ServerMessage, DeviceChanges>): message is Change =>
  isAdmission(message) && message.type !== 'edit' && !message.type.startsWith('sealed-');

/** Follows the devices in the room. Programs receive the whole list, which `complete` makes of the differences. */
export function createDeviceList() {
  let devices: readonly RoomDevice[] = [];

  return {
    size: () => devices.length,
    colorOf: (id: string | undefined) => devices.find(({ deviceId }) => deviceId === id)?.deviceColor,

    complete(message: ServerMessage): Exclude<ServerMessage, DeviceChanges> {
      if (message.type === 'snapshot' || message.type === 'devices') devices = message.devices;
      if (message.type !== 'devices-changed') return message;
      const byId = new Map(devices.map((device) => [device.deviceId, device]));
      for (const deviceId of message.left) byId.delete(deviceId);
      for (const device of message.joined) byId.set(device.deviceId, device);
      devices = [...byId.values()];
      return { type: 'devices', seq: message.seq, devices: [...devices] };
    },
  };
}
