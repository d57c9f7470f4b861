/** Inspects the Redis of the distributed engine without writing. Servers may be running. */
import type { GuardRules } from '../../core/ports/rooms.ts';
import { connectRedis, type Redis } from '../../redis/connection.ts';
import { hostsOf, parseRedisUrl } from '../../redis/redis-url.ts';
import { configValue, noneIfDenied, parseInfo } from '../../redis/server-info.ts';
import { createRedisStore, currentFormat, findFormat } from './open.ts';

export interface RedisFacts {
  /** The version of Redis, or the Redis version that Valkey is compatible with. */
  version: string;
  /** Undefined if the server does not tell. */
  evictionPolicy: string | undefined;
  writesLog: boolean;
  /** The version of the data, and that of this program. Undefined without data. */
  format: { stored: string | undefined; own: string };
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
    const info = parseInfo(await redis.send('', ['INFO']));
    const { keys: keyStore, storage, evictionPolicy } = createRedisStore(redis, target.prefix, rules);
    const keys = await keyStore.list();
    return {
      version: info.get('redis_version') ?? '0',
      evictionPolicy: await evictionPolicy(),
      writesLog: info.get('aof_enabled') === '1',
      format: { stored: await findFormat(redis, target.prefix), own: String(currentFormat.version) },
      syncsLog: await syncOf(redis),
      clock: await clockOf(redis),
      keysInForce: keys.filter(({ revokedAt }) => revokedAt === undefined).length,
      storedBytes: (await storage.usage()).stored,
    };
  } finally {
    await redis.close();
  }
}

/** Managed Redis services seldom allow reading settings. */
async function syncOf(redis: Redis): Promise<string | undefined> {
  const reply = await redis.send('', ['CONFIG', 'GET', 'appendfsync']).catch(noneIfDenied);
  return reply === undefined ? undefined : configValue(reply, 'appendfsync');
}

async function clockOf(redis: Redis): Promise<RedisFacts['clock']> {
  const before = Date.now();
  const [seconds, microseconds] = (await redis.send('', ['TIME'])) as [string, string];
  return { theirs: Number(seconds) * 1000 + Number(microseconds) / 1000, before, after: Date.now() };
}
