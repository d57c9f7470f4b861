/** Clients for one server, Sentinel or Cluster. The library is loaded only if Redis is used. */
import type { RedisClientOptions } from '@redis/client';
import type { Address, Login, RedisTarget } from './redis-url.ts';

/** The common part of the library's three kinds of client. */
interface Client {
  connect(): Promise<unknown>;
  evalSha(digest: string, options: Call): Promise<unknown>;
  eval(text: string, options: Call): Promise<unknown>;
  destroy(): unknown;
  on(event: string, listener: (...details: unknown[]) => void): unknown;
}

export type Call = { keys: string[]; arguments: string[] };

export interface OpenedClient {
  client: Client;
  /** The key determines the node of a cluster; without one it goes to any. */
  sendCommand: (key: string, command: readonly string[]) => Promise<unknown>;
  /** The last error. */
  lastError: () => unknown;
  /** To all servers that store data. Rejects unless all of them respond. */
  sendToAll: (command: readonly string[]) => Promise<unknown[]>;
  /** The server for subscriptions. After failed attempts (`tries`), it is another one. */
  subscriberAddress: (tries: number) => Address | undefined;
  /** Called when that server changes. */
  onMove: (listener: () => void) => void;
}

export async function openClient(target: RedisTarget): Promise<OpenedClient> {
  const opened = await openers[target.mode](target);
  let lastError: unknown;
  // Without a listener, an interruption would end the process. Commands report their own failures.
  opened.client.on('error', (error) => {
    lastError = error;
  });
  return { ...opened, lastError: () => lastError };
}

/** For one server. */
export function optionsFor(target: RedisTarget, address?: Address): RedisClientOptions {
  return {
    ...loginOf(target),
    ...(target.database && { database: target.database }),
    // While it is unavailable, commands fail immediately instead of being queued.
    disableOfflineQueue: true,
    // Detects a silently lost connection, for which the system would wait many minutes.
    pingInterval: 2_000,
    // `deadlines.ts` limits the time. Without a signal and a timer for each command, and with one command less, a read
    // takes 0.77 of the CPU time.
    commandOptions: { timeout: 0 },
    socket: socketTo(target, address),
  };
}

const openers: Record<RedisTarget['mode'], (target: RedisTarget) => Promise<Omit<OpenedClient, 'lastError'>>> = {
  async single(target) {
    const { createClient } = await import('@redis/client');
    const [address] = target.nodes;
    const client = createClient(optionsFor(target, address));
    return {
      client: client as unknown as Client,
      sendCommand: (_key, command) => client.sendCommand([...command]),
      sendToAll: async (command) => [await client.sendCommand([...command])],
      subscriberAddress: () => address,
      onMove: () => undefined,
    };
  },

  async sentinel(target) {
    const { createSentinel } = await import('@redis/client');
    const client = createSentinel({
      name: target.sentinel?.name ?? '',
      sentinelRootNodes: target.nodes,
      nodeClientOptions: optionsFor(target),
      sentinelClientOptions: sentinelOptions(target),
      // The library would repeat an interrupted command that may have succeeded, and write a text twice.
      maxCommandRediscovers: 0,
      // A message of the Sentinels may be lost, or arrive before the new primary accepts connections.
      scanInterval: 2_000,
      passthroughClientErrorEvents: true,
    });
    let primary: Address | undefined;
    const moved = new Set<() => void>();
    client.on('topology-change', ({ type, node }: { type: string; node: Address }) => {
      if (type !== 'MASTER_CHANGE' || isSame(node, primary)) return;
      primary = node;
      for (const listener of moved) listener();
    });
    return {
      client: client as unknown as Client,
      sendCommand: (_key, command) => client.sendCommand(false, [...command]),
      sendToAll: async (command) => [await client.sendCommand(false, [...command])],
      subscriberAddress: () => primary,
      onMove: (listener) => void moved.add(listener),
    };
  },

  async cluster(target) {
    const { createCluster } = await import('@redis/client');
    const client = createCluster({
      rootNodes: target.nodes.map((address) => optionsFor(target, address)),
      defaults: optionsFor(target),
      // Until then the library expects a lost server to return.
      topologyRefreshOnReconnectionAttemptStrategy: 1_000,
    });
    type Server = (typeof client.masters)[number];
    const first = Math.floor(Math.random() * 1_000);
    return {
      client: client as unknown as Client,
      sendCommand: (key, command) => client.sendCommand(key || undefined, false, [...command]),
      async sendToAll(command) {
        if (client.masters.length === 0) throw new Error('no server of the cluster is known');
        const send = async (server: Server) => (await client.nodeClient(server)).sendCommand([...command]);
        return Promise.all(client.masters.map(send));
      },
      // Each server of a cluster receives all published messages. Nodes are spread over them.
      subscriberAddress: (tries) => client.masters[(first + tries) % client.masters.length],
      onMove: () => undefined,
    };
  },
};

const sentinelOptions = ({ sentinel }: RedisTarget): object => ({
  ...(sentinel && loginOf(sentinel)),
  pingInterval: 2_000,
  socket: socketTo(sentinel),
});

const loginOf = ({ username, password }: Login) => ({ ...(username && { username }), ...(password && { password }) });

const socketTo = (login?: Login, address?: Address): object => ({
  ...(address && { host: address.host, port: address.port }),
  ...(login?.tls && { tls: true }),
  connectTimeout: 1_500,
  socketTimeout: 5_000,
  reconnectStrategy: (tries: number) => Math.min(50 * 2 ** tries, 1_000),
});

const isSame = (one: Address, other: Address | undefined) => one.host === other?.host && one.port === other.port;
