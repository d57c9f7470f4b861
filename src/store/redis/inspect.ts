/** Inspects the Redis of the distributed engine without writing. Servers may be running. */
import type { GuardRules } from '../../core/ports.ts';
import { connectRedis, type Redis } from '../../redis/connection.ts';
import { hostsOf, parseRedisUrl } from '../../redis/redis-url.ts';
import { createRedisStore } from './index.ts';

export interface RedisFacts {
  /** The version of Redis, or the Redis version that Valkey is compatible with. */
  version: string;
  evictionPolicy: string | undefined;
  writesLog: boolean;
  /** `always`, `everysec` or `no`; undefined if the server does not allow reading its settings. */
  syncsLog: string | undefined;
  /** The time of the server, and the local time before and after the request. */
  clock: { theirs: number; before: number; after: number };
  keysInForce: number;
  /** Bytes of all files. */
  storedBytes: number;
}

/** The hosts of a Redis URL, without the password. */
export const whereIsRedis = (url: string): string => hostsOf(parseRedisUrl(url));

export async function inspectRedis(url: string, rules: GuardRules): Promise<RedisFacts> {
  const target = parseRedisUrl(url);
  const redis = await connectRedis(target);
  try {
    const info = readInfo(String(await redis.send('', ['INFO'])));
    const { keys: keyStore, storage } = createRedisStore(redis, target.prefix, rules);
    const keys = await keyStore.list();
    return {
      version: info.get('redis_version') ?? '0',
      evictionPolicy: info.get('maxmemory_policy'),
      writesLog: info.get('aof_enabled') === '1',
      syncsLog: await syncOf(redis),
      clock: await clockOf(redis),
      keysInForce: keys.filter(({ revokedAt }) => revokedAt === undefined).length,
      storedBytes: (await storage.usage()).stored,
    };
  } finally {
    await redis.close();
  }
}

const readInfo = (text: string) =>
  new Map([...text.matchAll(/^(\w+):(.*?)\r?$/gm)].map(([, name = '', value = '']) => [name, value]));

/** Managed Redis services seldom allow reading settings. */
async function syncOf(redis: Redis): Promise<string | undefined> {
  try {
    // A list or an object, depending on the protocol version.
    const reply = (await redis.send('', ['CONFIG', 'GET', 'appendfsync'])) as string[] | Record<string, string>;
    return Array.isArray(reply) ? reply[1] : reply.appendfsync;
  } catch {
    return undefined;
  }
}

async function clockOf(redis: Redis): Promise<RedisFacts['clock']> {
  const before = Date.now();
  const [seconds, microseconds] = (await redis.send('', ['TIME'])) as [string, string];
  return { theirs: Number(seconds) * 1000 + Number(microseconds) / 1000, before, after: Date.now() };
}
