/** The index of files by id. It is on other nodes of a cluster than the rooms. */
import type { Redis } from '../../redis/connection.ts';
import { script } from '../../redis/script.ts';
import { clearUp } from './clear-up.ts';
import type { Keys } from './keys.ts';

/** KEYS: any. ARGV: milliseconds. */
const keepAtLeast = script(`
local left = redis.call('PTTL', KEYS[1])
if left >= 0 and left < tonumber(ARGV[1]) then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
`);

/** Keeps an entry at least this long. It is never shortened, because the room may be extended at the same time. */
export async function keepIndex(redis: Redis, keys: Keys, fileId: string, ms: number): Promise<void> {
  await redis.run(keepAtLeast, [keys.roomOfFile(fileId)], [ms]);
}

/** Removes the entries of files that no longer exist. An entry that stays expires with its room, and leads nowhere. */
export async function dropIndexes(redis: Redis, keys: Keys, fileIds: readonly string[]): Promise<void> {
  const indexes = fileIds.map(keys.roomOfFile);
  await Promise.all(indexes.map((index) => clearUp(redis, index, ['DEL', index])));
}
