/**
 * The webhooks of rooms in Redis: a hash for the rooms of each shard. An entry outlives its room until a node has taken
 * it to report its end. An entry is `REVISION:SEQ:DUE:CREATED:DOCUMENT`, where CREATED is that of the room: a later room
 * may have the code of a deleted one.
 */
import type { GuardRules } from '../../core/ports/rooms.ts';
import type { StoredWebhooks, WebhookScan, WebhookStore } from '../../core/ports/webhooks.ts';
import type { RoomCode } from '../../core/room-code.ts';
import type { Redis } from '../../redis/connection.ts';
import { script } from '../../redis/script.ts';
import { createRunner, isLive, type Keys, onKeys } from './keys.ts';

/** Rooms that one script compares. */
const batchSize = 200;

export function createWebhookStore(redis: Redis, keys: Keys, rules: GuardRules): WebhookStore {
  const run = createRunner(redis, keys, rules);

  /** The codes of a shard are read first, because a script names all its keys. */
  async function scanShard(webhooks: string, now: number): Promise<WebhookScan> {
    const all = (await redis.send(webhooks, ['HKEYS', webhooks])) as RoomCode[];
    const found: WebhookScan = { all, due: [], ended: [] };
    for (let at = 0; at < all.length; at += batchSize) {
      const codes = all.slice(at, at + batchSize);
      const rooms = codes.map((code) => keys.ofRoom(code).room);
      const reply = await redis.run(scanScript, [webhooks, ...rooms], [now, ...codes]);
      const [due, ended] = reply as [RoomCode[], RoomCode[]];
      found.due.push(...due);
      found.ended.push(...ended);
    }
    return found;
  }

  return {
    async read(code, now) {
      const entry = await run(readScript, code, now, code);
      return entry === null ? undefined : webhooksOf(entry);
    },

    async write(code, { revision, seq, dueAt, ...rest }, maxRooms, now) {
      const document = 'document' in rest ? rest.document : '';
      const maxOfShard = Math.ceil(maxRooms / keys.shards.length);
      return run(writeScript, code, now, code, revision, seq, dueAt, document, maxOfShard);
    },

    async scan(now) {
      const scans = await Promise.all(keys.shards.map(({ webhooks }) => scanShard(webhooks, now)));
      return {
        all: scans.flatMap(({ all }) => all),
        due: scans.flatMap(({ due }) => due),
        ended: scans.flatMap(({ ended }) => ended),
      };
    },

    async takeEnded(code, now) {
      const entry = await run(takeEndedScript, code, now, code);
      return entry === null ? undefined : webhooksOf(entry).document;
    },
  };
}

function webhooksOf(entry: string): StoredWebhooks {
  const [, revision, seq, dueAt, document = ''] = /^(\d+):(\d+):(\d+):\d+:(.*)$/s.exec(entry) ?? [];
  return { document, revision: Number(revision), seq: Number(seq), dueAt: Number(dueAt) };
}

export const webhooksEntry = ({ revision, seq, dueAt, document }: StoredWebhooks, createdAt: number): string =>
  `${revision}:${seq}:${dueAt}:${createdAt}:${document}`;

/** The parts of an entry, if it belongs to the room. */
const entryOfRoom = `
local function entryOfRoom(room, entry)
  if not entry then return false end
  local revision, seq, dueAt, createdAt = string.match(entry, '^(%d+):(%d+):(%d+):(%d+):')
  if redis.call('HGET', room, 'createdAt') ~= createdAt then return false end
  return {revision = tonumber(revision), seq = seq, dueAt = tonumber(dueAt)}
end
`;

const readScript = onKeys('room, webhooks', 'now, code').script<string | null>(`${isLive}${entryOfRoom}
local entry = redis.call('HGET', webhooks, code)
return isLive(room, now) and entryOfRoom(room, entry) and entry
`);

const writeScript = onKeys('room, webhooks', 'now, code, revision, seq, dueAt, document, maximum').script<
  'stored' | 'stale' | 'full' | 'gone'
>(`${isLive}${entryOfRoom}
if not isLive(room, now) then return 'gone' end
local stored = entryOfRoom(room, redis.call('HGET', webhooks, code))
if (stored and stored.revision or 0) ~= tonumber(revision) - 1 then return 'stale' end
if document == '' then
  redis.call('HDEL', webhooks, code)
  return 'stored'
end
if not stored and redis.call('HLEN', webhooks) >= tonumber(maximum) then return 'full' end
local createdAt = redis.call('HGET', room, 'createdAt')
redis.call('HSET', webhooks, code, table.concat({revision, seq, dueAt, createdAt, document}, ':'))
return 'stored'
`);

/** KEYS: webhooks, rooms. ARGV: now, their codes. Returns the codes that are due, and those of rooms that have ended. */
const scanScript = script(`${isLive}${entryOfRoom}
local due, ended = {}, {}
for i = 2, #KEYS do
  local entry = redis.call('HGET', KEYS[1], ARGV[i])
  local stored = entryOfRoom(KEYS[i], entry)
  if entry and not (stored and isLive(KEYS[i], ARGV[1])) then ended[#ended + 1] = ARGV[i]
  elseif stored and (stored.dueAt <= tonumber(ARGV[1]) or redis.call('HGET', KEYS[i], 'seq') ~= stored.seq) then
    due[#due + 1] = ARGV[i]
  end
end
return {due, ended}
`);

const takeEndedScript = onKeys('room, webhooks', 'now, code').scriptWhenFull<string | null>(`${isLive}${entryOfRoom}
local entry = redis.call('HGET', webhooks, code)
if entry and entryOfRoom(room, entry) and isLive(room, now) then return false end
redis.call('HDEL', webhooks, code)
return entry
`);
