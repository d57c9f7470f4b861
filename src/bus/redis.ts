/**
 * Events between nodes, by the publish and subscribe of Redis. Those on this node are told at once; the others hear it
 * from Redis, and our own words that come back from there are left out.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { EventBus, Subscription } from '../core/ports.ts';
import type { RoomCode } from '../core/room-code.ts';
import { openClient } from '../redis/client.ts';
import { connectSoon, isAnswer, type Redis, unavailable } from '../redis/connection.ts';
import { createDeadlines } from '../redis/deadlines.ts';
import type { RedisTarget } from '../redis/redis-url.ts';
import { createLocalBus } from './local.ts';

export interface RedisBus extends EventBus {
  close(): void;
}

/** Rooms that look anew at once, and the pause until the next do. */
const atOnce = 500;
const spacingMs = 25;

export async function openRedisBus(redis: Redis, target: RedisTarget): Promise<RedisBus> {
  const { client, sendCommand } = await openClient(target);
  await connectSoon(client);
  const here = createLocalBus();
  const node = randomBytes(6).toString('base64url');
  const channelOf = (code: RoomCode) => `${target.prefix}:changes:${code}`;
  /** On which a node says that it does not know what became of its commands. */
  const unsure = `${target.prefix}:unsure`;
  /** The rooms that anyone here listens to: one subscription each. */
  const rooms = new Map<RoomCode, { listeners: number; ready: Promise<void> }>();
  /** Those of them that have yet to be told to look for themselves. */
  let behind = new Set<RoomCode>();

  function hear(code: RoomCode, message: string): void {
    const [from, seq] = message.split(' ');
    if (from !== node) here.publish(code, Number(seq));
  }

  const deadlines = createDeadlines({ probe: () => sendCommand('', ['PING']), isAnswer, recovered: catchUp });

  async function listen(code: RoomCode): Promise<void> {
    try {
      await deadlines.within(() => client.subscribe(channelOf(code), (message) => hear(code, message)));
    } catch (error) {
      throw unavailable(error);
    }
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
    const isUnderWay = behind.size > 0;
    behind = new Set(rooms.keys());
    if (!isUnderWay) void tellThoseBehind();
  }

  /** Not all rooms at once: what they read would stand before everything else. */
  async function tellThoseBehind(): Promise<void> {
    for (let told = 1; behind.size > 0; told++) {
      const code = behind.values().next().value as RoomCode;
      behind.delete(code);
      here.publish(code, 0);
      if (told % atOnce === 0) await pause(spacingMs);
    }
  }

  client.on('ready', catchUp);
  redis.onRecovery(() => {
    catchUp();
    // A command of ours may have been done after all, and then nobody has been told.
    redis.send('', ['PUBLISH', unsure, node]).catch(() => undefined);
  });
  await client.subscribe(unsure, (from) => {
    if (from !== node) catchUp();
  });

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

    close() {
      void deadlines.finish();
      client.destroy();
    },
  };
}
