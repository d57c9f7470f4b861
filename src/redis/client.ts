/** Clients of the library, for one server, Sentinel or Cluster; loaded only when Redis is used. */
import type { RedisTarget } from './redis-url.ts';

/** The little of the library's three kinds of client that is used here. */
export interface Client {
  connect(): Promise<unknown>;
  evalSha(digest: string, options: Call): Promise<unknown>;
  eval(text: string, options: Call): Promise<unknown>;
  subscribe(channel: string, listener: (message: string) => void): Promise<unknown>;
  unsubscribe(channel: string): Promise<unknown>;
  destroy(): void;
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
}

export async function openClient(target: RedisTarget): Promise<OpenedClient> {
  const opened = await openers[target.mode](target);
  // Without a listener an interruption would end the process; each command says itself that it failed.
  opened.client.on('error', () => undefined);
  return opened;
}

const openers: Record<RedisTarget['mode'], (target: RedisTarget) => Promise<OpenedClient>> = {
  async single(target) {
    const { createClient } = await import('@redis/client');
    const [node] = target.nodes;
    const client = createClient({ ...optionsOf(target, node) });
    return opened(client, (_key, command) => client.sendCommand([...command]));
  },

  async sentinel(target) {
    const { createSentinel } = await import('@redis/client');
    const client = createSentinel({
      name: target.sentinel ?? '',
      sentinelRootNodes: target.nodes,
      nodeClientOptions: optionsOf(target),
    });
    return opened(client, (_key, command) => client.sendCommand(false, [...command]));
  },

  async cluster(target) {
    const { createCluster } = await import('@redis/client');
    const rootNodes = target.nodes.map((node) => optionsOf(target, node));
    const client = createCluster({ rootNodes, defaults: optionsOf(target) });
    return opened(client, (key, command) => client.sendCommand(key || undefined, false, [...command]));
  },
};

const opened = (client: unknown, sendCommand: OpenedClient['sendCommand']): OpenedClient => ({
  client: client as Client,
  sendCommand,
});

function optionsOf({ tls, username, password, database }: RedisTarget, node?: { host: string; port: number }): object {
  return {
    ...(username && { username }),
    ...(password && { password }),
    ...(database && { database }),
    // While it is away, commands are refused at once instead of being queued.
    disableOfflineQueue: true,
    // A connection that died without a word would be waited for until the system gives it up, which takes many minutes.
    pingInterval: 2_000,
    socket: {
      ...node,
      ...(tls && { tls }),
      connectTimeout: 1_500,
      socketTimeout: 5_000,
      reconnectStrategy: (tries: number) => Math.min(50 * 2 ** tries, 1_000),
    },
  };
}
