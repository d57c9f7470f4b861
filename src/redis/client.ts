/** Clients of the library, for one server, Sentinel or Cluster; loaded only when Redis is used. */
import type { RedisClientOptions } from '@redis/client';
import type { Address, Login, RedisTarget } from './redis-url.ts';

/** The little of the library's three kinds of client that is used here. */
export interface Client {
  connect(): Promise<unknown>;
  evalSha(digest: string, options: Call): Promise<unknown>;
  eval(text: string, options: Call): Promise<unknown>;
  destroy(): unknown;
  on(event: string, listener: (...details: unknown[]) => void): unknown;
}

export interface Call {
  keys: string[];
  arguments: string[];
}

export interface OpenedClient {
  client: Client;
  /** The key says which node of a cluster it goes to; without one it goes to any. */
  sendCommand: (key: string, command: readonly string[]) => Promise<unknown>;
  /** What went wrong last. */
  trouble: () => unknown;
  /** Rejects unless all servers that commands go to answer. */
  ping: () => Promise<unknown>;
  /** Where what is published is heard: that server, or the next one when it has been tried so many times in vain. */
  subscriberAddress: (tries: number) => Address | undefined;
  /** Told when that is another one from now on. */
  onMove: (listener: () => void) => void;
}

export async function openClient(target: RedisTarget): Promise<OpenedClient> {
  const opened = await openers[target.mode](target);
  let trouble: unknown;
  // Without a listener an interruption would end the process; each command says itself that it failed.
  opened.client.on('error', (error) => {
    trouble = error;
  });
  return { ...opened, trouble: () => trouble };
}

/** For one server. */
export function optionsFor(target: RedisTarget, address?: Address): RedisClientOptions {
  return {
    ...loginOf(target),
    ...(target.database && { database: target.database }),
    // While it is away, commands are refused at once instead of being queued.
    disableOfflineQueue: true,
    // A connection that died without a word would be waited for until the system gives it up, which takes many minutes.
    pingInterval: 2_000,
    socket: socketTo(target, address),
  };
}

const openers: Record<RedisTarget['mode'], (target: RedisTarget) => Promise<Omit<OpenedClient, 'trouble'>>> = {
  async single(target) {
    const { createClient } = await import('@redis/client');
    const [address] = target.nodes;
    const client = createClient(optionsFor(target, address));
    return {
      client: client as unknown as Client,
      sendCommand: (_key, command) => client.sendCommand([...command]),
      ping: () => client.sendCommand(['PING']),
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
      // It would repeat a command that was cut off, and that may have been done: a text would be written twice.
      maxCommandRediscovers: 0,
      // A message of the Sentinels may be lost, or come before the new primary takes us.
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
      ping: () => client.sendCommand(false, ['PING']),
      subscriberAddress: () => primary,
      onMove: (listener) => void moved.add(listener),
    };
  },

  async cluster(target) {
    const { createCluster } = await import('@redis/client');
    const client = createCluster({
      rootNodes: target.nodes.map((address) => optionsFor(target, address)),
      defaults: optionsFor(target),
      // Until then it takes a server that is gone for one that comes back.
      topologyRefreshOnReconnectionAttemptStrategy: 1_000,
    });
    const first = Math.floor(Math.random() * 1_000);
    return {
      client: client as unknown as Client,
      sendCommand: (key, command) => client.sendCommand(key || undefined, false, [...command]),
      async ping() {
        if (client.masters.length === 0) throw new Error('no server of the cluster is known');
        await Promise.all(client.masters.map(async (server) => (await client.nodeClient(server)).ping()));
      },
      // Each server of a cluster hears what is published on any; nodes spread over them.
      subscriberAddress: (tries) => client.masters[(first + tries) % client.masters.length],
      onMove: () => undefined,
    };
  },
};

function sentinelOptions({ sentinel }: RedisTarget): object {
  return { ...(sentinel && loginOf(sentinel)), pingInterval: 2_000, socket: socketTo(sentinel) };
}

const loginOf = ({ username, password }: Login) => ({ ...(username && { username }), ...(password && { password }) });

const socketTo = (login?: Login, address?: Address): object => ({
  ...(address && { host: address.host, port: address.port }),
  ...(login?.tls && { tls: true }),
  connectTimeout: 1_500,
  socketTimeout: 5_000,
  reconnectStrategy: (tries: number) => Math.min(50 * 2 ** tries, 1_000),
});

const isSame = (one: Address, other: Address | undefined) => one.host === other?.host && one.port === other.port;
