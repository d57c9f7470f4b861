/** The distributed engine: rooms, counters and keys in Redis or Valkey, the same for every node. */
import { randomUUID } from 'node:crypto';
import { PoproomError } from '../../core/errors.ts';
import type { GuardRules } from '../../core/ports/rooms.ts';
import type { EngineParts, SecretRecord, Store } from '../../core/ports/store.ts';
import { connectRedis, type Redis } from '../../redis/connection.ts';
import { hostsOf, parseRedisUrl } from '../../redis/redis-url.ts';
import { scriptWhenFull } from '../../redis/script.ts';
import { configValue, evictionPolicyOf, noneIfDenied, parseInfo } from '../../redis/server-info.ts';
import { createAccess } from './access.ts';
import { createActivityStore, createBlockStore, createReportStore, createRoomSummaries } from './admin.ts';
import { createKeyStore } from './api-keys.ts';
import { createArchive } from './archive.ts';
import { createMisses, createRequests } from './counters.ts';
import { createFiles } from './files.ts';
import { createIdempotencyStore } from './idempotency.ts';
import { createKeys, type Keys } from './keys.ts';
import { createLinks } from './links.ts';
import { createStorage } from './quota.ts';
import { createDeviceList, createRooms } from './rooms.ts';
import { createTexts } from './text.ts';
import { createTrash, createTrashClaims, knownBlobs } from './trash.ts';
import { createUploads } from './uploads.ts';
import { createWebhookStore } from './webhooks.ts';

type RedisStore = Store & Required<Pick<EngineParts, 'trashClaims'>>;

export function createRedisStore(redis: Redis, prefix: string, rules: GuardRules): RedisStore {
  const keys = createKeys(prefix);
  const storage = createStorage(redis, keys, (blobs) => knownBlobs(redis, keys, blobs));
  const misses = createMisses(redis, keys, rules);
  const { counting, ...rates } = createRequests(redis, keys, rules);
  const archive = createArchive(redis, keys, rules, storage);
  return {
    rooms: {
      ...createRooms(redis, keys, rules, storage),
      ...createAccess(redis, keys, rules, { ...rates, counting }, misses),
      ...createDeviceList(redis, keys, rules),
    },
    links: createLinks(redis, keys, rules, misses),
    texts: createTexts(redis, keys, rules),
    files: createFiles(redis, keys, rules, storage),
    uploads: createUploads(redis, keys, rules, storage),
    trash: createTrash(redis, keys, storage),
    trashClaims: createTrashClaims(redis, keys),
    rates,
    keys: createKeyStore(redis, keys),
    archive,
    storage,
    idempotency: createIdempotencyStore(redis, keys),
    secretRecord: createSecretRecord(redis, keys),
    summaries: createRoomSummaries(redis, keys, archive),
    blocks: createBlockStore(redis, keys),
    reports: createReportStore(redis, keys),
    activity: createActivityStore(redis, keys),
    webhooks: createWebhookStore(redis, keys, rules),
    queueLength: redis.queueLength,
    ping: redis.ping,
    evictionPolicy: () => evictionPolicyOf(redis),
    close: redis.close,
  };
}

/** The fingerprint of the secret, the same for every node. */
function createSecretRecord(redis: Redis, { secretRecord: key }: Keys): SecretRecord {
  const find = async () => ((await redis.send(key, ['GET', key])) ?? undefined) as string | undefined;
  return {
    find,
    async keep(fingerprint) {
      await redis.send(key, ['SET', key, fingerprint, 'NX']);
      return (await find()) ?? fingerprint;
    },
    replace: async (fingerprint) => void (await redis.send(key, ['SET', key, fingerprint])),
  };
}

/**
 * The version of the data format. Servers with different formats must not run side by side: an older one would return
 * old texts, and overwrite what it does not understand.
 *
 * Increase this with every change that a running server of the previous version would not understand. Data without a
 * version is from before the first format, which can read it.
 */
const currentFormat = { version: 1, oldestReadable: 1 };

type Format = typeof currentFormat;

/** A server that crashed counts as running for this long. */
const leaseMs = 60_000;
const renewEveryMs = 20_000;

/** Rejects if the data has another format. For commands that use the data for a moment. */
export async function assertFormat(redis: Redis, prefix: string): Promise<void> {
  const found = await findFormat(redis, prefix);
  if (found !== undefined && found !== String(currentFormat.version)) throw otherFormat(found, currentFormat);
}

/** The stored version; undefined if there is no data, or it is from before the first format. */
async function findFormat(redis: Redis, prefix: string): Promise<string | undefined> {
  const { format: key } = createKeys(prefix);
  return ((await redis.send(key, ['GET', key])) ?? undefined) as string | undefined;
}

/**
 * Registers a server. Upgrades an older format that it can read, unless servers of that format are running. If the
 * format changes later, all operations of this server are rejected. Returns a function that removes the server.
 */
export async function joinServers(
  redis: Redis,
  prefix: string,
  { format = currentFormat, everyMs = renewEveryMs } = {},
) {
  const { format: key, servers } = createKeys(prefix);
  const server = randomUUID();

  async function renew(): Promise<void> {
    const reply = await redis.run(joinScript, [key, servers], [format.version, format.oldestReadable, server, leaseMs]);
    const [outcome, found = ''] = reply as [string, string?];
    if (outcome === 'running') throw otherServers(found, format);
    if (outcome === 'other') throw otherFormat(found, format);
  }

  await renew();
  const timer = setInterval(() => {
    renew().catch((error: PoproomError) => {
      // An outage passes.
      if (error.retryAfter === undefined) redis.block(error);
    });
  }, everyMs);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await redis.send(servers, ['ZREM', servers, server]).catch(() => undefined);
  };
}

/** KEYS: format, servers. ARGV: format, oldest format that it can read, server, lease in milliseconds. */
const joinScript = scriptWhenFull(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
local found = redis.call('GET', KEYS[1])
if found and found ~= ARGV[1] then
  local version = string.match(found, '^%d+$') and tonumber(found)
  if not version or version > tonumber(ARGV[1]) or version < tonumber(ARGV[2]) then return {'other', found} end
  redis.call('ZREM', KEYS[2], ARGV[3])
  if redis.call('ZCARD', KEYS[2]) > 0 then return {'running', found} end
end
if found ~= ARGV[1] then redis.call('SET', KEYS[1], ARGV[1]) end
redis.call('ZADD', KEYS[2], now + tonumber(ARGV[4]), ARGV[3])
redis.call('PEXPIRE', KEYS[2], ARGV[4])
return {'joined'}
`);

function otherFormat(found: string, { version }: Format): PoproomError {
  const data = 'The data in the Redis in POPROOM_STORE has the';
  if (!/^\d+$/.test(found)) return refusal(`${data} unknown format "${found}". Check the prefix in POPROOM_STORE.`);
  const [relation, fix] =
    Number(found) > version
      ? ['of a newer version', 'Install that version here too']
      : ['of an earlier version', 'This version cannot upgrade it: upgrade to a version between the two first'];
  return refusal(
    `${data} format ${found} ${relation} of Poproom, and this version uses ${version}. ${fix}, or set another prefix in POPROOM_STORE.`,
  );
}

function otherServers(found: string, { version }: Format): PoproomError {
  const problem = `Servers of an earlier version, with the data format ${found}, use the Redis in POPROOM_STORE.`;
  const fix = `This version upgrades the data to ${version}, which they do not understand. Stop all of them, and start this version after a minute.`;
  return refusal(`${problem} ${fix}`);
}

const refusal = (sentence: string) => new PoproomError('UNAVAILABLE', sentence);

export type RedisFacts = Awaited<ReturnType<typeof inspectRedis>>;

/** The hosts of a Redis URL, without the password. */
export const whereIsRedis = (url: string): string => hostsOf(parseRedisUrl(url));

/** For `poproom doctor`: reads without writing. Servers may be running. */
export async function inspectRedis(url: string, rules: GuardRules) {
  const target = parseRedisUrl(url);
  const redis = await connectRedis(target);
  try {
    const info = parseInfo(await redis.send('', ['INFO']));
    const { keys: keyStore, storage, evictionPolicy } = createRedisStore(redis, target.prefix, rules);
    const keys = await keyStore.list();
    return {
      /** Of Redis, or the Redis version that Valkey is compatible with. */
      version: info.get('redis_version') ?? '0',
      evictionPolicy: await evictionPolicy(),
      writesLog: info.get('aof_enabled') === '1',
      /** The version of the data, and that of this program. Undefined without data. */
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

/** `always`, `everysec` or `no`; undefined for managed Redis services, which seldom allow reading settings. */
async function syncOf(redis: Redis): Promise<string | undefined> {
  const reply = await redis.send('', ['CONFIG', 'GET', 'appendfsync']).catch(noneIfDenied);
  return reply === undefined ? undefined : configValue(reply, 'appendfsync');
}

/** The time of the server, and the local time before and after the request. */
async function clockOf(redis: Redis) {
  const before = Date.now();
  const [seconds, microseconds] = (await redis.send('', ['TIME'])) as [string, string];
  return { theirs: Number(seconds) * 1000 + Number(microseconds) / 1000, before, after: Date.now() };
}
