/** The WebSocket transport: a thin shell around a session. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type ServerOptions, type WebSocket, WebSocketServer } from 'ws';
import { PoproomError } from '../core/errors.ts';
import type { Upgrade } from '../core/live-door.ts';
import type { ClientMessage } from '../protocol/types.ts';
import { closeCodeFor, closeCodeOf, policy, tooFast } from './close-codes.ts';
import { frameOf } from './frame.ts';
import type { Hub } from './hub.ts';
import { MessageBudget } from './message-budget.ts';
import type { ParseMessage } from './parse-message.ts';
import type { Session } from './session.ts';
import { type Outgoing, outgoing, type Wire } from './wire.ts';

const joinWithinMs = 5_000;
/** In so many pieces a message of any size can be sent; more of them only cost memory. */
const mostFragments = 1_024;
/** Bytes of messages that are read while another is dealt with; the rest waits at the sender. */
const mostWaiting = 256 * 1024;
/** For a peer to answer a close; then the connection goes without it. */
const closeTimeout = 2_000;

export type WebSockets = ReturnType<typeof createWebSockets>;

export function createWebSockets(hub: Hub, parse: ParseMessage, maxMessageBytes: number) {
  const openingHeaders = new WeakMap<IncomingMessage, Record<string, string>>();
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: maxMessageBytes,
    maxFragments: mostFragments,
    closeTimeout,
  } as ServerOptions);
  const open = new Set<WebSocket>();
  server.on('headers', (lines, raw) => {
    for (const [name, value] of Object.entries(openingHeaders.get(raw) ?? {})) lines.push(`${name}: ${value}`);
  });

  /** Apart from the opening request: a listener made beside it would keep it for as long as the channel is open. */
  function begin(socket: WebSocket, connection: Duplex, guest: Guest): void {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    converse(socket, wireOf(socket, connection), { hub, parse, guest });
  }

  return {
    /** Throws, before the connection is taken over, when the client has too many already. */
    accept({ raw, socket: connection, head, headers, client, roomId, linkBase, linkTo }: Upgrade): void {
      // Gone while the gate was asking: its close has been told, and nothing would give the place back.
      if (connection.destroyed) return;
      connection.once('close', hub.reserve(client));
      openingHeaders.set(raw, headers);
      server.handleUpgrade(raw, connection, head, (socket) =>
        begin(socket, connection, { client, roomId, linkBase, linkTo }),
      );
    },

    /** Those that have not joined yet; the others are told by their session. */
    stop(): void {
      for (const socket of open) socket.close(closeCodeFor.shutdown, 'shutdown');
    },
  };
}

/** Who is at the other end, and which room it came for. */
type Guest = Pick<Upgrade, 'client' | 'roomId' | 'linkBase' | 'linkTo'>;

interface Conversation {
  hub: Hub;
  parse: ParseMessage;
  guest: Guest;
}

function converse(socket: WebSocket, wire: Wire, { hub, parse, guest }: Conversation): void {
  const budget = new MessageBudget(performance.now());
  let session: Session | undefined;
  /** One message at a time, in the order they came; the budget bounds how many can wait, and we how much that is. */
  let last = Promise.resolve();
  let waiting = 0;

  let tooLate: NodeJS.Timeout | undefined;
  tooLate = setTimeout(() => socket.close(policy, 'No join within 5 seconds.'), joinWithinMs);
  socket.on('close', () => {
    clearTimeout(tooLate);
    session?.leave();
  });
  // ws closes the connection itself, with the right code.
  socket.on('error', () => undefined);
  socket.on('pong', () => session?.onAlive());
  socket.on('ping', () => {
    if (!budget.spend(performance.now())) socket.close(tooFast, 'Too many pings.');
  });
  socket.on('message', (data, isBinary) => {
    session?.onAlive();
    if (budget.spend(performance.now())) enqueue(data as Buffer, isBinary);
    else socket.close(tooFast, 'Too many messages: at most 20 a second.');
  });

  function enqueue(data: Buffer, isBinary: boolean): void {
    waiting += data.length;
    if (waiting > mostWaiting) socket.pause();
    last = last.then(async () => {
      await take(data, isBinary);
      waiting -= data.length;
      if (socket.isPaused && waiting <= mostWaiting) socket.resume();
    });
  }

  async function take(data: Buffer, isBinary: boolean): Promise<void> {
    if (socket.readyState !== socket.OPEN) return;
    try {
      const parsed = await parse(data, isBinary);
      if (parsed.problem) refuse(parsed.problem, parsed.ref);
      else if (session) await session.receive(parsed.message);
      else await join(parsed.message);
    } catch (error) {
      refuse(error);
    }
  }

  function refuse(error: unknown, ref?: string): void {
    if (session) session.refuse(error, ref === undefined ? {} : { ref });
    else turnAway(wire, error);
  }

  async function join(message: ClientMessage): Promise<void> {
    if (message.type !== 'join') throw new PoproomError('VALIDATION_FAILED', 'The first message must be join.');
    clearTimeout(tooLate);
    tooLate = undefined;
    const { client, roomId, linkBase, linkTo } = guest;
    const { pin, deviceId, deviceName, seq, edits = false, version, timestamp } = message;
    const caller = { client, roomId, pin, deviceId };
    session = await hub.join(wire, { caller, deviceName, seq, edits, version, timestamp, linkBase, linkTo });
    if (socket.readyState !== socket.OPEN) session.leave();
  }
}

/** Whoever could not come in is told why, in words and as a code. */
function turnAway(wire: Wire, error: unknown): void {
  const known = error instanceof PoproomError ? error : new PoproomError('INTERNAL', 'Something went wrong.');
  const { code, message, details } = known;
  wire.send(outgoing({ type: 'error', error: { code, message, ...(details && { details }) } }));
  wire.close(closeCodeOf(code), message);
}

function wireOf(socket: WebSocket, connection: Duplex): Wire {
  const send = (message: Outgoing) => {
    if (socket.readyState === socket.OPEN) connection.write(frameOf(message));
  };
  return {
    answersPings: true,
    send,
    backlog: () => socket.bufferedAmount,
    ping(message) {
      // Ten thousand idle channels cost little else than these writes.
      connection.cork();
      socket.ping();
      if (message) send(message);
      connection.uncork();
    },
    close: (code, reason) => socket.close(code, cut(reason)),
  };
}

/** A close frame has room for 123 bytes. */
const cut = (reason: string): string =>
  Buffer.from(reason)
    .subarray(0, 123)
    .toString()
    .replace(/\uFFFD+$/, '');
