/** Inspects the data of the distributed engine in Redis, under the prefix of the server. */
import { createClient } from '@redis/client';
import type { RoomCode } from '../../src/core/room-code.ts';
import { parseRedisUrl } from '../../src/redis/redis-url.ts';
import { createKeys, type Keys } from '../../src/store/redis/keys.ts';
import type { StoreInspector } from './store-inspector.ts';

export function redisInspector(url: string): StoreInspector {
  const { nodes, prefix } = parseRedisUrl(url);
  const keys = createKeys(prefix);
  const keysOf = (code: string) => keys.ofRoom(code as RoomCode);
  const roomKey = (code: string) => keysOf(code).room;
  const withRedis = <T>(work: (redis: Redis) => Promise<T>) => connected(nodes[0], work);
  const everything = () => withRedis(async (redis) => readAll(redis, await keysUnder(redis, prefix)));

  return {
    async counts() {
      const all = [...(await everything())];
      const of = (name: RegExp) => all.filter(([key]) => name.test(key)).map(([, value]) => value);
      // A tombstone is not a room.
      const rooms = of(/:room:\w+$/).filter((fields) => fields.includes('createdAt'));
      return { rooms: rooms.length, files: of(/:files$/).flat().length / 2, trash: of(/:trash$/).flat().length };
    },

    pinMac: (room) => withRedis(async (redis) => Buffer.from((await redis.hGet(roomKey(room), 'pinMac')) ?? '', 'hex')),

    async bytes() {
      return Buffer.from(JSON.stringify([...(await everything())]));
    },

    async values() {
      return JSON.stringify([...(await everything())].map(([key, value]) => [key, withoutHashes(value)]));
    },

    changeCode: (from, to) =>
      withRedis(async (redis) => {
        const [before, after] = [textKeys(keysOf(from)), textKeys(keysOf(to))];
        for (const [i, key] of before.entries()) if (await redis.exists(key)) await redis.rename(key, after[i] ?? '');
        const expiresAt = await redis.zScore(keys.rooms, from);
        await redis.zRem(keys.rooms, from);
        await redis.zAdd(keys.rooms, { score: expiresAt ?? 0, value: to });
      }),

    writeSecondText: (room, content) =>
      withRedis(async (redis) => {
        const fields = { content, version: 2, textVersion: 2, logVersion: 2, seq: 2 };
        await redis.multi().hSet(roomKey(room), fields).del(keysOf(room).edits).exec();
      }),

    corrupt: (code) =>
      withRedis(async (redis) => {
        await redis.set(roomKey(code), 'not a room');
        return 'WRONGTYPE';
      }),
  };
}

type Redis = ReturnType<typeof createClient>;

/** The keys of the room and its text. */
function textKeys({ room, edits, history, historyTexts }: ReturnType<Keys['ofRoom']>): string[] {
  return [room, edits, history, historyTexts];
}

async function connected<T>(
  socket: { host: string; port: number } | undefined,
  work: (redis: Redis) => Promise<T>,
): Promise<T> {
  const client = createClient({ RESP: 2, socket: { ...socket } });
  await client.connect();
  try {
    return await work(client as Redis);
  } finally {
    client.destroy();
  }
}

async function keysUnder(redis: Redis, prefix: string): Promise<string[]> {
  const found = new Set<string>();
  for await (const names of redis.scanIterator({ MATCH: `${prefix}:*`, COUNT: 10_000 })) {
    for (const name of names) found.add(name);
  }
  return [...found];
}

/** Commands that read a whole value, by type. A type that is missing here fails the test. */
const readCommands: Record<string, (key: string) => string[]> = {
  string: (key) => ['GET', key],
  hash: (key) => ['HGETALL', key],
  list: (key) => ['LRANGE', key, '0', '-1'],
  set: (key) => ['SMEMBERS', key],
  zset: (key) => ['ZRANGE', key, '0', '-1', 'WITHSCORES'],
};

async function readAll(redis: Redis, keys: string[]): Promise<Map<string, string[]>> {
  const all = new Map<string, string[]>();
  for (const key of keys) {
    const kind = await redis.type(key);
    // The key may have expired since the scan.
    if (kind === 'none') continue;
    const command = readCommands[kind]?.(key);
    if (!command) throw new Error(`${key} has the unsupported type ${kind}`);
    all.set(key, [(await redis.sendCommand(command)) as string | string[]].flat());
  }
  return all;
}

const hashes = ['pinMac', 'client', 'network'];

/** The list has fields and values alternately. */
function withoutHashes(fields: string[]): string[] {
  return fields.filter((_, i) => !hashes.includes(fields[i - 1] ?? ''));
}
