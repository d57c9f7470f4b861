/** API keys in Redis. */
import type { ApiKey, KeyStore } from '../../core/ports/clients.ts';
import type { Archive, KeyRecord } from '../../core/ports/store.ts';
import type { Redis } from '../../redis/connection.ts';
import { script, scriptWhenFull } from '../../redis/script.ts';
import type { Keys } from './keys.ts';

export function createKeyStore(redis: Redis, { apiKeys }: Keys): KeyStore {
  const [byId = '', byHash = ''] = apiKeys;
  return {
    async create({ hash, ...key }, now) {
      const made: ApiKey = { ...key, createdAt: now, revokedAt: undefined };
      const args = [key.id, hash, key.name, JSON.stringify({ ...made, hash })];
      return (await redis.run(createKeyScript, apiKeys, args)) === 1 ? made : undefined;
    },

    async find(hash) {
      const json = await redis.send(byHash, ['HGET', byHash, hash]);
      return json === null ? undefined : keyOf(String(json));
    },

    list: async () => keyRecords((await redis.send(byId, ['HVALS', byId])) as string[]).map(withoutHash),

    async revoke(idOrName, now) {
      const json = await redis.run(revokeKeyScript, apiKeys, [idOrName, now]);
      return json === null ? undefined : keyOf(String(json));
    },
  };
}

/** All keys with their hashes, for migration. */
export function createKeyArchive(redis: Redis, { apiKeys }: Keys): Pick<Archive, 'keys' | 'restoreKey'> {
  const [byId = ''] = apiKeys;
  return {
    keys: async () => keyRecords((await redis.send(byId, ['HVALS', byId])) as string[]),

    async restoreKey(key) {
      const isInForce = key.revokedAt === undefined;
      const args = [key.id, key.hash, key.name, JSON.stringify(key), isInForce ? 1 : 0];
      return (await redis.run(restoreKeyScript, apiKeys, args)) === 1 ? 'restored' : 'taken';
    },
  };
}

/** Oldest first. */
const keyRecords = (jsons: string[]): KeyRecord[] =>
  jsons.map(recordOf).sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));

const recordOf = (json: string): KeyRecord => ({ revokedAt: undefined, ...JSON.parse(json) });
const withoutHash = ({ hash: _, ...key }: KeyRecord): ApiKey => key;
const keyOf = (json: string): ApiKey => withoutHash(recordOf(json));

/** KEYS: keys by id, active keys by hash, active ids by name. ARGV: id, hash, name, json. */
const createKeyScript = script(`
if redis.call('HEXISTS', KEYS[3], ARGV[3]) == 1 then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[4])
redis.call('HSET', KEYS[2], ARGV[2], ARGV[4])
redis.call('HSET', KEYS[3], ARGV[3], ARGV[1])
return 1
`);

/** KEYS as for createKey. ARGV: id or name, now. */
const revokeKeyScript = scriptWhenFull(`
local id = ARGV[1]
local json = redis.call('HGET', KEYS[1], id)
local key = json and cjson.decode(json)
if not key or key.revokedAt then
  id = redis.call('HGET', KEYS[3], ARGV[1])
  if not id then return false end
  key = cjson.decode(redis.call('HGET', KEYS[1], id))
end
key.revokedAt = tonumber(ARGV[2])
local revoked = cjson.encode(key)
redis.call('HSET', KEYS[1], id, revoked)
redis.call('HDEL', KEYS[2], key.hash)
redis.call('HDEL', KEYS[3], key.name)
return revoked
`);

/** KEYS as for createKey. ARGV: id, hash, name, json, 1 if it is active. */
const restoreKeyScript = script(`
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then return 0 end
if ARGV[5] == '1' then
  if redis.call('HSETNX', KEYS[3], ARGV[3], ARGV[1]) == 0 then return 0 end
  redis.call('HSET', KEYS[2], ARGV[2], ARGV[4])
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[4])
return 1
`);
