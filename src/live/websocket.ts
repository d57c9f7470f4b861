/** The WebSocket transport: opens sockets, and forwards their events to their connection. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type ServerOptions, WebSocket, WebSocketServer } from 'ws';
import type { Upgrade } from '../core/live-gateway.ts';
import { keyPrefix, liveProtocol, resumePrefix } from '../protocol/live-protocol.ts';
import { ReceiveSlots, SocketConnection, type SocketDeps } from './socket-connection.ts';
import { closeCodeFor } from './wire.ts';

/** Enough for a message of any size. More would only use memory. */
const maxFragments = 1_024;
/** How long the server waits for the peer's close frame before it drops the connection. */
const closeTimeout = 2_000;
const checkDeadlinesMs = 1_000;

export type WebSockets = ReturnType<typeof createWebSockets>;

/** The socket class that `ws` instantiates. */
class LiveSocket extends WebSocket {
  connection: SocketConnection | undefined;
}

type GivenDeps = Omit<SocketDeps, 'guests' | 'receiving' | 'slots'>;

export function createWebSockets({ maxMessageBytes, ...given }: GivenDeps & { maxMessageBytes: number }) {
  const { hub } = given;
  const openingLines = new WeakMap<IncomingMessage, string>();
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
    const headerLines = openingLines.get(raw);
    if (headerLines) lines.push(headerLines.trimEnd());
  });

  function onClose(this: WebSocket): void {
    const connection = connectionOf(this);
    connection?.onClose();
    if (connection) hub.release(connection.client);
  }

  const checking = setInterval(() => {
    const now = performance.now();
    for (const connection of deps.receiving) connection.checkDeadline(now);
  }, checkDeadlinesMs).unref();

  function listen(socket: LiveSocket, stream: Duplex): void {
    // Runs before `ws`, so that the last bytes are counted before the message is complete.
    stream.prependListener('data', (chunk: Buffer) => socket.connection?.onBytes(chunk));
    socket.on('close', onClose);
    socket.on('error', onError);
    socket.on('pong', onPong);
    socket.on('ping', onPing);
    socket.on('message', onMessage);
  }

  return {
    /** Throws before the upgrade if the client has too many channels. */
    accept({ raw, socket: stream, head, headerLines, ...guest }: Upgrade): void {
      // Closed during authorization: nothing would release its reservation.
      if (stream.destroyed) return;
      hub.reserve(guest.client);
      openingLines.set(raw, headerLines);
      let isOpened = false;
      server.handleUpgrade(raw, stream, head, (socket) => {
        isOpened = true;
        socket.connection = new SocketConnection(socket, stream, guest, deps);
        listen(socket, stream);
      });
      // `ws` calls back synchronously, or closes the connection silently.
      if (!isOpened) hub.release(guest.client);
    },

    stop(): void {
      clearInterval(checking);
      // Sessions close the other connections.
      for (const guest of deps.guests) guest.close(closeCodeFor.shutdown, 'shutdown');
    },
  };
}

/** Browsers close the channel if the server selects none of their protocols. Secrets must not be sent back. */
function selectProtocol(offered: Set<string>): string | false {
  if (offered.has(liveProtocol)) return liveProtocol;
  return [...offered].find((name) => !name.startsWith(resumePrefix) && !name.startsWith(keyPrefix)) ?? false;
}

const connectionOf = (socket: WebSocket) => (socket as LiveSocket).connection;

// Shared by all sockets: closures for each event would use memory of idle channels.

/** `ws` closes the connection itself, with the right code. */
function onError(): void {}

function onPong(this: WebSocket, data: Buffer): void {
  connectionOf(this)?.onControl('pongs', data);
}

function onPing(this: WebSocket, data: Buffer): void {
  connectionOf(this)?.onControl('pings', data);
}

function onMessage(this: WebSocket, data: unknown, isBinary: boolean): void {
  connectionOf(this)?.onMessage(data as Buffer, isBinary);
}
