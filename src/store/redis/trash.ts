/** Blobs that no file references any more, and known blobs. */
import type { Owner } from '../../core/ports/basics.ts';
import type { TrashClaims, TrashStore } from '../../core/ports/files.ts';
import type { Redis } from '../../redis/connection.ts';
import { scriptWhenFull } from '../../redis/script.ts';
import { type Keys, leaseMs } from './keys.ts';
import type { RedisStorage } from './quota.ts';

type Shard = Keys['shards'][number];

type Charge = Owner & { blob: string };

export function createTrash(redis: Redis, keys: Keys, storage: Pick<RedisStorage, 'discharge'>): TrashStore {
  const inAllShards = <T>(work: (shard: Shard) => Promise<T>) => Promise.all(keys.shards.map(work));

  /** The name in the trash is not that of the blob if it was unfinished. Older entries have only the name. */
  async function chargesOf({ trashOwners }: Shard, names: readonly string[]): Promise<Charge[]> {
    const owners = (await redis.send(trashOwners, ['HMGET', trashOwners, ...names])) as (string | null)[];
    return names.flatMap((blob, i) => (owners[i] ? [{ blob, ...(JSON.parse(owners[i]) as Owner) }] : []));
  }

  return {
    knownBlobs: (blobs) => knownBlobs(redis, keys, blobs),

    async listTrash(limit) {
      const found = await inAllShards(({ trash }) => redis.send(trash, ['SRANDMEMBER', trash, String(limit)]));
      return (found as string[][]).flat().slice(0, limit);
    },

    /** Discharges the owners first: an entry in the trash is retried, while a lost one would count forever. */
    async clearTrash(gone) {
      if (gone.length === 0) return;
      const charges = await inAllShards((shard) => chargesOf(shard, gone));
      await Promise.all(charges.flat().map(({ blob, ...owner }) => storage.discharge(blob, owner)));
      await inAllShards(async ({ trash, trashOwners }) => {
        await redis.send(trash, ['SREM', trash, ...gone]);
        await redis.send(trashOwners, ['HDEL', trashOwners, ...gone]);
      });
    },
  };
}

export function createTrashClaims(redis: Redis, keys: Keys): TrashClaims {
  return {
    async claim(blobs, now) {
      if (blobs.length === 0) return [];
      return (await redis.run(claimTrashScript, [keys.claims], [now, now + leaseMs, leaseMs, ...blobs])) as string[];
    },

    async release(blobs) {
      if (blobs.length > 0) await redis.send(keys.claims, ['ZREM', keys.claims, ...blobs]);
    },
  };
}

/** Which of these names belong to a file or are in the trash. An unfinished file has two names. */
export async function knownBlobs(redis: Redis, { shards }: Keys, names: readonly string[]): Promise<Set<string>> {
  if (names.length === 0) return new Set();
  const isMember = async (key: string) => (await redis.send(key, ['SMISMEMBER', key, ...names])) as number[];
  const replies = await Promise.all(shards.flatMap(({ blobs, trash }) => [isMember(blobs), isMember(trash)]));
  return new Set(names.filter((_, i) => replies.some((reply) => reply[i] === 1)));
}

/**
 * Assigns blobs to be removed, each to one node. A claim lasts longer than the removal, because another node may have
 * listed the blob before. KEYS: claims. ARGV: now, end of the lease, its length, the blobs.
 */
const claimTrashScript = scriptWhenFull(`
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[1])
local own = {}
for i = 4, #ARGV do
  if redis.call('ZADD', KEYS[1], 'NX', ARGV[2], ARGV[i]) == 1 then own[#own + 1] = ARGV[i] end
end
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return own
`);
