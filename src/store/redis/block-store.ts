/** Blocks of addresses in Redis, the same for every node. */
import type { AddressBlock, BlockStore } from '../../core/ports.ts';
import type { Redis } from '../../redis/connection.ts';
import { script, scriptWhenFull } from '../../redis/script.ts';
import type { Keys } from './keys.ts';

export function createBlockStore(redis: Redis, { blocks: key }: Keys): BlockStore {
  return {
    async put(block, maximum) {
      const args = [block.range, JSON.stringify(block), block.createdAt, maximum];
      return (await redis.run(put, [key], args)) === 1 ? 'stored' : 'full';
    },
    async remove(id) {
      return (await redis.run(remove, [key], [id])) === 1 ? 'removed' : 'unknown';
    },
    async list(now) {
      const jsons = (await redis.send(key, ['HVALS', key])) as string[];
      return jsons
        .map(blockOf)
        .filter(({ endsAt }) => endsAt === undefined || endsAt > now)
        .sort((one, other) => other.createdAt - one.createdAt || (one.id < other.id ? -1 : 1));
    },
  };
}

/** By range. ARGV: range, block, now, maximum. */
const put = scriptWhenFull(`
  local entries = redis.call('HGETALL', KEYS[1])
  for i = 1, #entries, 2 do
    local ends_at = cjson.decode(entries[i + 1]).endsAt
    if ends_at and ends_at <= tonumber(ARGV[3]) then redis.call('HDEL', KEYS[1], entries[i]) end
  end
  local others = redis.call('HLEN', KEYS[1]) - redis.call('HEXISTS', KEYS[1], ARGV[1])
  if others >= tonumber(ARGV[4]) then return 0 end
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
  return 1
`);

const remove = script(`
  local entries = redis.call('HGETALL', KEYS[1])
  for i = 1, #entries, 2 do
    if cjson.decode(entries[i + 1]).id == ARGV[1] then return redis.call('HDEL', KEYS[1], entries[i]) end
  end
  return 0
`);

function blockOf(json: string): AddressBlock {
  const { id, range, reason, createdAt, endsAt } = JSON.parse(json) as AddressBlock;
  return { id, range, reason, createdAt, endsAt };
}
