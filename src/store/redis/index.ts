/** The distributed engine: rooms, counters and keys in Redis or Valkey, the same for every node. */
import type { EngineParts, GuardRules, Store } from '../../core/ports.ts';
import type { Redis } from '../../redis/connection.ts';
import { evictionPolicyOf } from '../../redis/server-info.ts';
import { createActivityStore } from './activity-store.ts';
import { createArchive } from './archive.ts';
import { createBlockStore } from './block-store.ts';
import { createIdempotencyStore } from './idempotency.ts';
import { createKeyStore } from './key-store.ts';
import { createKeys } from './keys.ts';
import { createRateCounter } from './rate-counter.ts';
import { createRoomStores } from './room-store.ts';
import { createRoomSummaries } from './room-summaries.ts';
import { createSecretRecord } from './secret-record.ts';
import { createStorage } from './storage.ts';
import { knownBlobs } from './trash.ts';

export type RedisStore = Store & Required<Pick<EngineParts, 'trashClaims'>>;

export function createRedisStore(redis: Redis, prefix: string, rules: GuardRules): RedisStore {
  const keys = createKeys(prefix);
  const storage = createStorage(redis, keys, (blobs) => knownBlobs(redis, keys, blobs));
  const archive = createArchive(redis, keys, rules, storage);
  return {
    ...createRoomStores(redis, keys, rules, storage),
    rates: createRateCounter(redis, keys, rules),
    keys: createKeyStore(redis, keys),
    archive,
    storage,
    idempotency: createIdempotencyStore(redis, keys),
    secretRecord: createSecretRecord(redis, keys),
    summaries: createRoomSummaries(redis, keys, archive),
    blocks: createBlockStore(redis, keys),
    activity: createActivityStore(redis, keys),
    queueLength: redis.queueLength,
    ping: redis.ping,
    evictionPolicy: () => evictionPolicyOf(redis),
    close: redis.close,
  };
}
