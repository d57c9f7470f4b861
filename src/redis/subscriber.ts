/**
 * The connection for messages of other nodes. After a reconnect it subscribes to all channels again before it reports
 * `onReconnect`. The library's own subscriptions do not report a reconnect in a cluster, and with Sentinel they lose
 * channels or leak connections if the primary is tried before it is replaced.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { createClient } from '@redis/client';
import { type OpenedClient, optionsFor } from './client.ts';
import { connectWithin } from './connect-within.ts';
import type { RedisTarget } from './redis-url.ts';

export interface Subscriber {
  subscribe(channel: string): Promise<void>;
  unsubscribe(channel: string): Promise<void>;
  ping(): Promise<unknown>;
  close(): void;
}

export interface SubscriptionHandlers {
  onMessage: (message: string, channel: string) => void;
  /** Earlier messages may have been missed. */
  onReconnect: () => void;
}

type AddressSource = Pick<OpenedClient, 'subscriberAddress' | 'onMove'>;

/** Resolves after the first connection. */
export async function openSubscriber(
  source: AddressSource,
  target: RedisTarget,
  { onMessage, onReconnect }: SubscriptionHandlers,
): Promise<Subscriber> {
  const channels = new Set<string>();
  const { promise: listening, resolve: listens } = Promise.withResolvers<void>();
  let current: Connection | undefined;
  let leave: () => void = () => undefined;
  let closed = false;

  /** Settles when this connection is lost. Rejects if it could not be established. */
  async function listen(tries: number): Promise<void> {
    const connection = createConnection(source, target, tries);
    leave = connection.leave;
    try {
      await connection.client.connect();
      if (channels.size > 0) await connection.client.subscribe([...channels], onMessage);
      current = connection;
      listens();
      onReconnect();
      await connection.lost;
    } finally {
      current = undefined;
      connection.leave();
    }
  }

  async function keepListening(): Promise<void> {
    for (let tries = 0; !closed; tries++) {
      await listen(tries).then(
        () => {
          tries = 0;
        },
        () => undefined,
      );
      if (!closed) await pause(Math.min(50 * 2 ** tries, 1_000));
    }
  }

  function connected(): Connection['client'] {
    if (!current) throw new Error('not connected');
    return current.client;
  }

  function close(): void {
    closed = true;
    leave();
  }

  source.onMove(() => leave());
  void keepListening();
  await connectWithin(target, () => listening).catch((error) => {
    close();
    throw error;
  });

  return {
    async subscribe(channel) {
      // Before the response, because an unsubscribe may happen in between.
      channels.add(channel);
      try {
        await connected().subscribe(channel, onMessage);
      } catch (error) {
        channels.delete(channel);
        throw error;
      }
    },
    async unsubscribe(channel) {
      channels.delete(channel);
      await current?.client.unsubscribe(channel);
    },
    ping: async () => connected().sendCommand(['PING']),
    close,
  };
}

type Connection = ReturnType<typeof createConnection>;

/** Closed at the first error, because we choose the next server ourselves. */
function createConnection(source: AddressSource, target: RedisTarget, tries: number) {
  const address = source.subscriberAddress(tries);
  // The library would connect to the default port of this machine.
  if (!address) throw new Error('no server is known');
  const client = createClient(optionsFor(target, address));
  const { promise: lost, resolve } = Promise.withResolvers<void>();
  const leave = () => {
    resolve();
    client.destroy();
  };
  client.on('error', leave);
  return { client, lost, leave };
}
