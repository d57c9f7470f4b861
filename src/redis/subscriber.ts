/**
 * The connection on which a node hears the others. It knows what it listens to, and where: on a new connection it
 * listens to all of it again before it says that it is back. The library has this for each of its modes, but it tells
 * of no return in a cluster, and with Sentinel it forgets what it listened to, or leaves connections behind, when the
 * primary is tried before it is replaced.
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

export interface Hearing {
  onMessage: (message: string, channel: string) => void;
  /** Messages before this may have been missed. */
  onReconnect: () => void;
}

type Post = Pick<OpenedClient, 'subscriberAddress' | 'onMove'>;

/** Resolves when it listens for the first time. */
export async function openSubscriber(
  post: Post,
  target: RedisTarget,
  { onMessage, onReconnect }: Hearing,
): Promise<Subscriber> {
  const channels = new Set<string>();
  const { promise: listening, resolve: listens } = Promise.withResolvers<void>();
  let current: Connection | undefined;
  let leave: () => void = () => undefined;
  let closed = false;

  /** Settles when this connection is lost; rejects when it did not come about. */
  async function listen(tries: number): Promise<void> {
    const connection = createConnection(post, target, tries);
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

  async function goOnListening(): Promise<void> {
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

  post.onMove(() => leave());
  void goOnListening();
  await connectWithin(
    () => listening,
    () => undefined,
  ).catch((error) => {
    close();
    throw error;
  });

  return {
    async subscribe(channel) {
      // Before the answer: whoever leaves meanwhile takes it away again.
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

/** It is left at the first sign of trouble: where the next one goes is for us to say. */
function createConnection(post: Post, target: RedisTarget, tries: number) {
  const address = post.subscriberAddress(tries);
  // The library would take the usual port of this machine.
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
