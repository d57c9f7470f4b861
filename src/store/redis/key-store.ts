/** API keys in Redis. */
import type { ApiKey, KeyStore } from '../../core/ports.ts';
import type { Redis } from '../../redis/connection.ts';
import type { Keys } from './keys.ts';
import { createKey, revokeKey } from './scripts.ts';

type StoredKey = Omit<ApiKey, 'revokedAt'> & { hash: string; revokedAt?: number };

export function createKeyStore(redis: Redis, { apiKeys }: Keys): KeyStore {
  const [byId = '', byHash = ''] = apiKeys;
  return {
    async create({ hash, ...key }, now) {
      const stored: StoredKey = { ...key, createdAt: now, hash };
      const made = await redis.run(createKey, apiKeys, [key.id, hash, key.name, JSON.stringify(stored)]);
      return made === 1 ? keyOf(JSON.stringify(stored)) : undefined;
    },

    async find(hash) {
      const json = await redis.send(byHash, ['HGET', byHash, hash]);
      return json === null ? undefined : keyOf(String(json));
    },

    async list() {
      const all = (await redis.send(byId, ['HVALS', byId])) as string[];
      return all.map(keyOf).sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
    },

    async revoke(idOrName, now) {
      const json = await redis.run(revokeKey, apiKeys, [idOrName, now]);
      return json === null ? undefined : keyOf(String(json));
    },
  };
}

function keyOf(json: string): ApiKey {
  const { id, name, tier, createdAt, revokedAt } = JSON.parse(json) as StoredKey;
  return { id, name, tier, createdAt, revokedAt };
}
