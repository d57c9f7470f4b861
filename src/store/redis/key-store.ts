/** API keys in Redis. */
import type { ApiKey, KeyRecord, KeyStore } from '../../core/ports.ts';
import type { Redis } from '../../redis/connection.ts';
import type { Keys } from './keys.ts';
import { createKey, revokeKey } from './scripts.ts';

export function createKeyStore(redis: Redis, { apiKeys }: Keys): KeyStore {
  const [byId = '', byHash = ''] = apiKeys;
  return {
    async create({ hash, ...key }, now) {
      const made: ApiKey = { ...key, createdAt: now, revokedAt: undefined };
      const args = [key.id, hash, key.name, JSON.stringify({ ...made, hash })];
      return (await redis.run(createKey, apiKeys, args)) === 1 ? made : undefined;
    },

    async find(hash) {
      const json = await redis.send(byHash, ['HGET', byHash, hash]);
      return json === null ? undefined : keyOf(String(json));
    },

    async list() {
      return keyRecords((await redis.send(byId, ['HVALS', byId])) as string[]).map(withoutHash);
    },

    async revoke(idOrName, now) {
      const json = await redis.run(revokeKey, apiKeys, [idOrName, now]);
      return json === null ? undefined : keyOf(String(json));
    },
  };
}

/** Oldest first. */
export function keyRecords(jsons: string[]): KeyRecord[] {
  return jsons.map(recordOf).sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
}

function recordOf(json: string): KeyRecord {
  const { id, name, tier, createdAt, revokedAt, hash } = JSON.parse(json) as KeyRecord;
  return { id, name, tier, createdAt, revokedAt, hash };
}

const withoutHash = ({ hash: _, ...key }: KeyRecord): ApiKey => key;
const keyOf = (json: string): ApiKey => withoutHash(recordOf(json));
