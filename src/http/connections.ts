/** Opens the port of the server, limits the connections of each client, and closes them when the server stops. */
import type { Server } from 'node:http';
import { type AddressInfo, type BlockList, isIPv4, type Socket } from 'node:net';
import type { Transfer, TransferBudget } from '../core/defence/transfer-budget.ts';
import { clientOf, isProxy } from './request/request.ts';

/** How often the stop looks for connections that are idle now. */
const idleCheckMs = 100;

/** Node's own name for the step that opens the port. `listen` calls it after it has looked up the host. */
type OpensPort = Server & { _listen2?(host: string, port: number, family: 4): void };

export function listen(server: OpensPort, { port, host }: { port: number; host: string }): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.once('listening', () => resolve((server.address() as AddressInfo).port));
    // An IPv4 address needs no lookup, which loads the modules for clusters and compiles the pattern of IPv6 addresses:
    // 1.5 instead of 9 to 11 of 100 to 140 ms until the first response.
    if (server._listen2 && isIPv4(host)) server._listen2(host, port, 4);
    else server.listen(port, host);
  });
}

/** Returns a function that closes idle connections immediately, and busy ones once they are idle or after some time. */
export function trackConnections(server: Server): (withinMs: number) => Promise<void> {
  // Node's own list of connections does not include WebSockets.
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => void sockets.add(socket.on('close', onClose)));
  // One function for all connections, to save memory of idle live channels.
  function onClose(this: Socket): void {
    sockets.delete(this);
  }
  return (withinMs) =>
    new Promise((resolve) => {
      const deadline = setTimeout(() => {
        for (const socket of sockets) socket.destroy();
      }, withinMs);
      // Also connections whose last response was not announced as the last, because it began before the stop.
      const idleCheck = setInterval(() => server.closeIdleConnections(), idleCheckMs);
      server.close(() => {
        clearTimeout(deadline);
        clearInterval(idleCheck);
        resolve();
      });
      server.closeIdleConnections();
    });
}

const descriptors = Symbol('descriptors of the connection');

interface Handle {
  bytesRead: number;
  bytesWritten: number;
  /** The bytes that the system has not taken yet. */
  writeQueueSize: number;
}

/** With TLS, only the connection below counts the bytes. Node has no public name for it, nor for its handle. */
type CountedSocket = Socket & { [descriptors]?: Transfer; _handle?: Handle | null; _parent?: CountedSocket | null };

const connectionOf = (socket: CountedSocket): CountedSocket => socket._parent ?? socket;

/** The bytes that the system has taken from this process. An unread response soon makes no progress any more. */
export function sentBytes(socket: Socket | null): number {
  const handle = socket && connectionOf(socket)._handle;
  return handle ? handle.bytesWritten - handle.writeQueueSize : 0;
}

/** Closes connections of a client that has its share of the descriptors, and idle ones if there are none left. */
export function limitConnections(server: Server, budget: TransferBudget, proxies: BlockList): void {
  function onClose(this: CountedSocket): void {
    this[descriptors]?.close();
  }
  server.on('connection', (socket: CountedSocket) => {
    const { remoteAddress } = socket;
    const transfer = budget.start({
      client: isProxy(remoteAddress, proxies) ? undefined : clientOf(remoteAddress),
      progress: () => (socket._handle?.bytesRead ?? 0) + sentBytes(socket),
      end: () => socket.destroy(),
    });
    if (!transfer.take(1)) return void socket.destroy();
    socket[descriptors] = transfer;
    socket.on('close', onClose);
  });
  server.on('upgrade', (_, socket) => keepOpen(socket as Socket));
}

/** The descriptors of a connection: one for itself, and one for a file. */
export const descriptorsOf = (socket: Socket): Transfer | undefined => connectionOf(socket)[descriptors];

/** For live channels, which are idle most of the time and have their own limits. */
export function keepOpen(socket: Socket): void {
  descriptorsOf(socket)?.keep();
}

/** Without a limit in the system, or if it is unknown. */
const manyDescriptors = 10_000;
/** For the stores and the log: an eighth of the limit, and at most this many. */
const maxReserved = 1024;

/** How many descriptors connections and their files may use. */
export function availableDescriptors(): number {
  const limit = descriptorLimit();
  return limit - Math.min(Math.floor(limit / 8), maxReserved);
}

function descriptorLimit(): number {
  const { readFileSync } = process.getBuiltinModule('node:fs');
  try {
    const [, limit] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return limit === undefined ? manyDescriptors : Number(limit);
  } catch {
    // Only Linux has this file.
    return manyDescriptors;
  }
}
