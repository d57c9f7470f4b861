/** One WebSocket to a room. It is closed if the server stops sending. */
import type { ClientMessage, Join, ServerMessage } from '../protocol/types.ts';
import { createAsyncQueue } from './async-queue.ts';
import { invalidMessage, offlineError, PoproomError } from './error.ts';
import { parseMessage } from './parse-message.ts';

/** The server sends a heartbeat every 25 seconds. After two missed ones, the connection is dead. */
const idleTimeoutMs = 55_000;
const openTimeoutMs = 8_000;
/** Close code of a connection that ended without a close frame. */
const abnormalClosure = 1006;
/** After more than one heartbeat interval without a message, as after sleep, the connection may be dead. */
const freshMs = 27_000;
/** In UTF-16 code units of messages that the program has not read yet. */
const maxUnread = 64 * 1024 * 1024;

export interface Connection {
  messages: AsyncIterable<ServerMessage>;
  send(message: ClientMessage): void;
  /** Whether the server has sent something recently. */
  isFresh(): boolean;
  /** Whether the server closed the connection cleanly. */
  wasClosed(): boolean;
  /** The protocol violation because of which this side closed the connection. */
  violation(): PoproomError | undefined;
  close(): void;
}

export interface ConnectOptions {
  /** Ignored in browsers, whose WebSocket cannot send headers. */
  headers: Readonly<Record<string, string>>;
  /** Subprotocols to offer. */
  protocols: string[];
  /** Aborts opening, and closes an open connection. */
  signal: AbortSignal;
  /** Called with each message on arrival. If it returns true, the message is not added to `messages`. */
  onMessage: (message: ServerMessage) => boolean;
  /** Called once when the connection has ended, whether or not `messages` is being read. */
  onEnd: () => void;
}

/** Fails if the channel does not open. Browsers do not reveal the reason. */
export function connect(url: string, join: Join, options: ConnectOptions): Promise<Connection> {
  const { signal, onMessage, onEnd } = options;
  if (signal.aborted) return Promise.reject(offlineError(signal.reason));
  const socket = openSocket(url.replace(/^http/, 'ws'), options);
  const queue = createAsyncQueue<ServerMessage>();
  let lastMessageAt = Date.now();
  const idleCheck = setInterval(() => {
    if (Date.now() - lastMessageAt > idleTimeoutMs) close();
  }, 5_000);

  // A dead connection does not confirm a close, so do not wait for it.
  let isEnded = false;
  let wasClosed = false;
  let violation: PoproomError | undefined;
  function close(): void {
    clearInterval(idleCheck);
    if (!isEnded) onEnd();
    isEnded = true;
    queue.end();
    socket.close();
  }

  const connection: Connection = {
    messages: queue,
    send: (message) => socket.send(JSON.stringify(message)),
    isFresh: () => socket.readyState === WebSocket.OPEN && Date.now() - lastMessageAt < freshMs,
    wasClosed: () => wasClosed,
    violation: () => violation,
    close,
  };

  /** A malformed message must end the connection, not the program. */
  function receive(data: string): void {
    try {
      const message = parseMessage(data);
      if (message && !onMessage(message)) queue.push(message, data.length);
      // The program still receives queued messages. Rejoining delivers later changes.
      if (queue.size > maxUnread) close();
    } catch (error) {
      violation = error instanceof PoproomError ? error : invalidMessage('a message that cannot be applied', error);
      close();
    }
  }

  return new Promise((resolve, reject) => {
    const fail = () => {
      clearTimeout(timeout);
      close();
      reject(offlineError());
    };
    const timeout = setTimeout(fail, openTimeoutMs);
    signal.addEventListener('abort', fail);
    socket.onopen = () => {
      clearTimeout(timeout);
      connection.send(join);
      resolve(connection);
    };
    socket.onmessage = ({ data }) => {
      // A closed socket may still deliver messages while the next one is already in use.
      if (isEnded) return;
      lastMessageAt = Date.now();
      receive(String(data));
    };
    socket.onclose = ({ code }) => {
      wasClosed = !isEnded && code !== abnormalClosure;
      fail();
    };
  });
}

function openSocket(url: string, { headers, protocols }: ConnectOptions): WebSocket {
  if (Object.keys(headers).length === 0 || 'document' in globalThis) return new WebSocket(url, protocols);
  // An extension of Node, Deno and Bun. A browser would take the object for a subprotocol name.
  return new WebSocket(url, { headers, protocols } as unknown as string[]);
}
