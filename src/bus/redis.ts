/**
 * Events between nodes, by the publish and subscribe of Redis. Those on this node are told at once; the others hear it
 * from Redis, and our own words that come back from there are left out.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { EventBus, Subscription } from '../core/ports.ts';
import type { RoomCode } from '../core/room-code.ts';
import { isAnswer, type Redis, unavailable } from '../redis/connection.ts';
import { createDeadlines } from '../redis/deadlines.ts';
import { createLocalBus } from './local.ts';

export interface RedisBus extends EventBus {
  close(): void;
}

/** Rooms that look anew at once, and the pause until the next do. */
const atOnce = 500;
const spacingMs = 25;

export async function openRedisBus(redis: Redis, prefix: string): Promise<RedisBus> {
  const here = createLocalBus();
  const node = randomBytes(6).toString('base64url');
  const changes = `${prefix}:changes:`;
  const channelOf = (code: RoomCode) => changes + code;
  /** On which a node says that it does not know what became of its commands. */
  const unsure = `${prefix}:unsure`;
  /** The rooms that anyone here listens to: one subscription each. */
  const rooms = new Map<RoomCode, { listeners: number; ready: Promise<void> }>();
  /** Those of them that have yet to be told to look for themselves. */
  let behind = new Set<RoomCode>();

  function heard(message: string, channel: string): void {
    const [from, seq] = message.split(' ');
    if (from === node) return;
    if (channel === unsure) catchUp();
    else here.publish(channel.slice(changes.length) as RoomCode, Number(seq));
  }

  const subscriber = await redis.listen({ heard, returned: catchUp });
  const deadlines = createDeadlines({ probe: subscriber.ping, isAnswer, recovered: catchUp });

  async function listen(channel: string): Promise<void> {
    try {
      await deadlines.within(() => subscriber.subscribe(channel));
    } catch (error) {
      throw unavailable(error);
    }
  }

  function join(code: RoomCode): Promise<void> {
    const room = rooms.get(code) ?? { listeners: 0, ready: listen(channelOf(code)) };
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
    subscriber.unsubscribe(channelOf(code)).catch(() => undefined);
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

  redis.onRecovery(() => {
    catchUp();
    // A command of ours may have been done after all, and then nobody has been told.
    redis.send('', ['PUBLISH', unsure, node]).catch(() => undefined);
  });
  await listen(unsure).catch((error) => {
    subscriber.close();
    throw error;
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
      subscriber.close();
    },
  };
}
