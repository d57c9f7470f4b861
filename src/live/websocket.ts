/** The WebSocket transport: opens sockets, and passes their events on to their connection. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type ServerOptions, WebSocket, WebSocketServer } from 'ws';
import type { Upgrade } from '../core/live-gateway.ts';
import { liveProtocol, resumePrefix } from '../protocol/resume.ts';
import { ReceiveSlots } from './receive-slots.ts';
import { SocketConnection, type SocketDeps } from './socket-connection.ts';

/** In so many pieces a message of any size can be sent; more of them only cost memory. */
const maxFragments = 1_024;
/** For a peer to answer a close; then the connection goes without it. */
const closeTimeout = 2_000;
const checkDeadlinesMs = 1_000;

export type WebSockets = ReturnType<typeof createWebSockets>;

/** What `ws` makes of an opened connection. */
class LiveSocket extends WebSocket {
  connection: SocketConnection | undefined;
}

export interface WebSocketOptions extends Omit<SocketDeps, 'guests' | 'receiving' | 'slots'> {
  maxMessageBytes: number;
}

export function createWebSockets({ maxMessageBytes, ...given }: WebSocketOptions) {
  const { hub } = given;
  const openingHeaders = new WeakMap<IncomingMessage, Record<string, string>>();
  const deps: SocketDeps = { ...given, guests: new Set(), receiving: new Set(), slots: new ReceiveSlots() };
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: maxMessageBytes,
    maxFragments,
    closeTimeout,
    handleProtocols: selectProtocol,
    WebSocket: LiveSocket,
  } as ServerOptions<typeof LiveSocket>);
  server.on('headers', (lines, raw) => {
    for (const [name, value] of Object.entries(openingHeaders.get(raw) ?? {})) lines.push(`${name}: ${value}`);
  });

  function onClose(this: WebSocket): void {
    const connection = connectionOf(this);
    connection?.onClose();
    if (connection) hub.release(connection.client);
  }

  const checking = setInterval(() => {
    const now = performance.now();
    for (const connection of deps.receiving) connection.checkDeadline(now);
  }, checkDeadlinesMs);
  checking.unref();

  function listen(socket: LiveSocket, stream: Duplex): void {
    // Before `ws`, so that a message is complete after its last bytes were counted.
    stream.prependListener('data', (chunk: Buffer) => socket.connection?.onBytes(chunk));
    socket.on('close', onClose);
    socket.on('error', onError);
    socket.on('pong', onPong);
    socket.on('ping', onPing);
    socket.on('message', onMessage);
  }

  return {
    /** Throws, before the connection is taken over, when the client has too many already. */
    accept({ raw, socket: stream, head, headers, ...guest }: Upgrade): void {
      // Closed while it was being authorized: nothing would release its place.
      if (stream.destroyed) return;
      hub.reserve(guest.client);
      openingHeaders.set(raw, headers);
      let isOpened = false;
      server.handleUpgrade(raw, stream, head, (socket) => {
        isOpened = true;
        socket.connection = new SocketConnection(socket, stream, guest, deps);
        listen(socket, stream);
      });
      // `ws` calls back in the same step, or closes the connection without a word.
      if (!isOpened) hub.release(guest.client);
    },

    stop(): void {
      clearInterval(checking);
      for (const guest of deps.guests) guest.shutDown();
    },
  };
}

/** A browser closes a channel whose server selects nothing of what it offered. A token must not be sent back. */
function selectProtocol(offered: Set<string>): string | false {
  if (offered.has(liveProtocol)) return liveProtocol;
  return [...offered].find((name) => !name.startsWith(resumePrefix)) ?? false;
}

const connectionOf = (socket: WebSocket) => (socket as LiveSocket).connection;

// The same functions for all sockets: one of its own for each event would be memory that an idle channel holds.

/** `ws` closes the connection itself, with the right code. */
function onError(): void {}

function onPong(this: WebSocket, data: Buffer): void {
  connectionOf(this)?.onPong(data);
}

function onPing(this: WebSocket, data: Buffer): void {
  connectionOf(this)?.onPing(data);
}

function onMessage(this: WebSocket, data: unknown, isBinary: boolean): void {
  connectionOf(this)?.onMessage(data as Buffer, isBinary);
}
