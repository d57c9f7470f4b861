/**
 * Events between nodes, by the publish and subscribe of Redis. Those on this node are told at once; the others hear it
 * from Redis, and our own words that come back from there are left out.
 */
import { randomBytes } from 'node:crypto';
import type { EventBus, Subscription } from '../core/ports.ts';
import type { RoomCode } from '../core/room-code.ts';
import { openClient } from '../redis/client.ts';
import { connectSoon, type Redis } from '../redis/connection.ts';
import type { RedisTarget } from '../redis/redis-url.ts';
import { createLocalBus } from './local.ts';

export interface RedisBus extends EventBus {
  close(): void;
}

export async function openRedisBus(redis: Redis, target: RedisTarget): Promise<RedisBus> {
  const { client } = await openClient(target);
  await connectSoon(client);
  const here = createLocalBus();
  const node = randomBytes(6).toString('base64url');
  const channelOf = (code: RoomCode) => `${target.prefix}:changes:${code}`;
  /** The rooms that anyone here listens to: one subscription each. */
  const rooms = new Map<RoomCode, { listeners: number; ready: Promise<void> }>();

  function hear(code: RoomCode, message: string): void {
    const [from, seq] = message.split(' ');
    if (from !== node) here.publish(code, Number(seq));
  }

  async function listen(code: RoomCode): Promise<void> {
    await client.subscribe(channelOf(code), (message) => hear(code, message));
  }

  function join(code: RoomCode): Promise<void> {
    const room = rooms.get(code) ?? { listeners: 0, ready: listen(code) };
    room.listeners += 1;
    rooms.set(code, room);
    // Whoever waits for it is told; whoever does not must not end the process.
    room.ready.catch(() => undefined);
    return room.ready;
  }

  function leave(code: RoomCode): void {
    const room = rooms.get(code);
    if (!room || --room.listeners > 0) return;
    rooms.delete(code);
    client.unsubscribe(channelOf(code)).catch(() => undefined);
  }

  /** What was published while nobody here could hear it has been missed: everyone looks for themselves. */
  function catchUp(): void {
    for (const code of rooms.keys()) here.publish(code, 0);
  }
  redis.onRecovery(catchUp);
  client.on('ready', catchUp);

  return {
    publish(code, seq) {
      here.publish(code, seq);
      redis.send('', ['PUBLISH', channelOf(code), `${node} ${seq}`]).catch(() => undefined);
    },

    subscribe(code, listener): Subscription {
      const subscription = here.subscribe(code, listener);
      const ready = join(code);
      let left = false;
      return {
        ready,
        leave() {
          if (left) return;
          left = true;
          subscription.leave();
          leave(code);
        },
      };
    },

    close: () => client.destroy(),
  };
}
