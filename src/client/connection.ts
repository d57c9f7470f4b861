/** One WebSocket to a room. It is closed if the server stops sending. */
import type { CloseCode } from '../protocol/close-codes.ts';
import type { ClientMessage, Join, ServerMessage } from '../protocol/types.ts';
import { invalidMessage, PoproomError } from './error.ts';
import { parseMessage } from './parse-message.ts';

/** The server sends a heartbeat every 25 seconds. After two missed ones, the connection is dead. */
const idleTimeoutMs = 55_000;
const idleCheckMs = 5_000;
const openTimeoutMs = 8_000;
/** Close code of a connection that ended without a close frame. */
const abnormalClosure = 1006;
const tooFast = 4429 satisfies CloseCode;
/** After more than one heartbeat interval without a message, as after sleep, the connection may be dead. */
const freshMs = 27_000;

export interface Connection {
  send(message: ClientMessage): void;
  /** Whether the server has sent something recently. */
  isFresh(): boolean;
}

/**
 * - `closed`: the server closed the connection;
 * - `limited`: the server closed it because this side sends too many messages, or reads too slowly;
 * - `lost`: it broke, the server stopped sending, or this side closed it;
 * - an error: the protocol violation because of which this side closed it.
 */
export type ConnectionEnd = 'closed' | 'limited' | 'lost' | PoproomError;

export interface ConnectOptions {
  /** Ignored in browsers, whose WebSocket cannot send headers. */
  headers: Readonly<Record<string, string>>;
  /** Subprotocols to offer. */
  protocols: string[];
  /** Aborts opening, and closes an open connection. */
  signal: AbortSignal;
  /** Called when `join` was sent. */
  onOpen: (connection: Connection) => void;
  /** Called with each message and its length. If it throws, the connection ends with a protocol violation. */
  onMessage: (message: ServerMessage, length: number) => void;
  /** Called once, also if the connection never opened. Browsers do not reveal the reason for that. */
  onEnd: (end: ConnectionEnd) => void;
}

type SocketState =
  | { name: 'opening'; timer: ReturnType<typeof setTimeout> }
  | { name: 'open'; timer: ReturnType<typeof setInterval>; lastMessageAt: number }
  | { name: 'ended' };

/** `join` may follow the opening of the connection. If it fails, the caller must abort the connection. */
export function connect(url: string, join: Promise<Join>, options: ConnectOptions): void {
  const { signal, onOpen, onMessage, onEnd } = options;
  const socket = openSocket(url.replace(/^http/, 'ws'), options);
  let state: SocketState = { name: 'opening', timer: setTimeout(() => end('lost'), openTimeoutMs) };
  signal.addEventListener('abort', () => end('lost'));

  socket.onopen = () => {
    if (state.name !== 'opening') return;
    clearTimeout(state.timer);
    join.then(sendJoin, () => undefined);
  };

  function sendJoin(join: Join): void {
    if (state.name !== 'opening') return;
    state = { name: 'open', timer: setInterval(checkIdle, idleCheckMs), lastMessageAt: Date.now() };
    const send = (message: ClientMessage) => socket.send(JSON.stringify(message));
    send(join);
    onOpen({ send, isFresh: () => socket.readyState === WebSocket.OPEN && idleMs() < freshMs });
  }

  socket.onmessage = ({ data }) => {
    // A closed socket may still deliver messages while the next one is already in use.
    if (state.name !== 'open') return;
    state.lastMessageAt = Date.now();
    receive(String(data));
  };

  socket.onclose = ({ code }) => end(code === abnormalClosure ? 'lost' : code === tooFast ? 'limited' : 'closed');

  /** A malformed message must end the connection, not the program. */
  function receive(data: string): void {
    try {
      const message = parseMessage(data);
      if (message) onMessage(message, data.length);
    } catch (error) {
      end(error instanceof PoproomError ? error : invalidMessage('a message that cannot be applied', error));
    }
  }

  function idleMs(): number {
    return state.name === 'open' ? Date.now() - state.lastMessageAt : Number.POSITIVE_INFINITY;
  }

  function checkIdle(): void {
    if (idleMs() > idleTimeoutMs) end('lost');
  }

  /** A dead connection does not confirm a close, so do not wait for it. */
  function end(how: ConnectionEnd): void {
    const previous = state;
    if (previous.name === 'ended') return;
    state = { name: 'ended' };
    clearInterval(previous.timer);
    socket.close();
    onEnd(how);
  }
}

function openSocket(url: string, { headers, protocols }: ConnectOptions): WebSocket {
  if (Object.keys(headers).length === 0 || 'document' in globalThis) return new WebSocket(url, protocols);
  // An extension of Node, Deno and Bun. A browser would take the object for a subprotocol name.
  return new WebSocket(url, { headers, protocols } as unknown as string[]);
}
