/** Rooms in Redis for operators. */
import type { Archive, RoomSummaries, RoomSummary } from '../../core/ports.ts';
import type { RoomCode } from '../../core/room-code.ts';
import type { Redis } from '../../redis/connection.ts';
import { script } from '../../redis/script.ts';
import type { Keys } from './keys.ts';

/** The maximum number of concurrent requests. */
export const batchSize = 100;

/** KEYS: room, edits, history texts. ARGV: now. No text leaves Redis. */
const summarize = script(`
local room = redis.call('HMGET', KEYS[1], 'createdAt', 'expiresAt', 'pinMac', 'fileCount', 'fileBytes', 'client', 'salt')
if not room[1] or tonumber(room[2]) <= tonumber(ARGV[1]) then return false end
local bytes = redis.call('HSTRLEN', KEYS[1], 'content')
for _, entry in ipairs(redis.call('LRANGE', KEYS[2], 0, -1)) do bytes = bytes + #entry end
for _, version in ipairs(redis.call('HKEYS', KEYS[3])) do bytes = bytes + redis.call('HSTRLEN', KEYS[3], version) end
return {room, bytes}
`);

export function createRoomSummaries(redis: Redis, keys: Keys, archive: Pick<Archive, 'codes'>): RoomSummaries {
  async function find(code: RoomCode, now: number): Promise<RoomSummary | undefined> {
    const { room, edits, historyTexts } = keys.ofRoom(code);
    const reply = await redis.run(summarize, [room, edits, historyTexts], [now]);
    return reply === null ? undefined : summaryOf(code, reply as SummaryReply);
  }

  async function* inBatches(now: number): AsyncGenerator<RoomCode[]> {
    let codes: RoomCode[] = [];
    for await (const code of archive.codes(now)) {
      codes.push(code);
      if (codes.length < batchSize) continue;
      yield codes;
      codes = [];
    }
    yield codes;
  }

  return {
    async *list(now) {
      for await (const codes of inBatches(now)) {
        const found = await Promise.all(codes.map((code) => find(code, now)));
        yield* found.filter((summary) => summary !== undefined);
      }
    },

    find,
  };
}

type SummaryReply = [fields: string[], textBytes: number];

function summaryOf(code: RoomCode, [fields, textBytes]: SummaryReply): RoomSummary {
  const [createdAt, expiresAt, pinMac, fileCount, fileBytes, client, salt] = fields;
  return {
    code,
    createdAt: Number(createdAt),
    expiresAt: Number(expiresAt),
    hasPin: Boolean(pinMac) && !salt,
    ...(salt && { salt }),
    fileCount: Number(fileCount),
    fileBytes: Number(fileBytes),
    textBytes,
    client: client || undefined,
  };
}
