/** Rooms and keys in Redis in full, for migration. */

import type { CreatedBy } from '../../core/ports/basics.ts';
import type { GuardRules } from '../../core/ports/rooms.ts';
import type { Archive, RoomRecord } from '../../core/ports/store.ts';
import type { Checkpoint } from '../../core/ports/texts.ts';
import type { RoomCode } from '../../core/room-code.ts';
import type { Redis } from '../../redis/connection.ts';
import { script } from '../../redis/script.ts';
import { createKeyArchive } from './api-keys.ts';
import { fileJson, filesOf } from './files.ts';
import { type Keys, netMs, pairsOf } from './keys.ts';
import { linkFields, linksOf } from './links.ts';
import type { RedisStorage } from './quota.ts';
import { hex } from './rooms.ts';
import {
  checkpointFields,
  checkpointInfoOf,
  entryJson,
  type FullTextReply,
  keepsHistoryOf,
  textAndLog,
  textAndLogOf,
} from './text.ts';
import { createWebhookStore, webhooksEntry } from './webhooks.ts';

const batchSize = '500';

export function createArchive(redis: Redis, keys: Keys, rules: GuardRules, storage: RedisStorage): Archive {
  const webhookStore = createWebhookStore(redis, keys);

  /** Runs before the room is created, so that it can be swept and its files can be downloaded. */
  async function prepare(record: RoomRecord, keepMs: number, now: number): Promise<boolean> {
    const { code, expiresAt, files, links } = record;
    const isOurs = await redis.run(claimRestoredScript, [keys.rooms], [code, expiresAt]);
    if (isOurs !== 1) return false;
    const indexes = [...files.map(({ id }) => keys.roomOfFile(id)), ...links.map(({ id }) => keys.roomOfLink(id))];
    await Promise.all(indexes.map((index) => redis.send(index, ['SET', index, code, 'PX', String(keepMs)])));
    for (const { blob, owner, size } of files) {
      if (owner) await storage.charge({ blob, owner, size, expiresAt }, now);
    }
    await storage.restoreTextCharge(record, now);
    return true;
  }

  return {
    async *codes(now) {
      let cursor = '0';
      do {
        const reply = await redis.send(keys.rooms, ['ZSCAN', keys.rooms, cursor, 'COUNT', batchSize]);
        const [next, members] = reply as [string, string[]];
        for (let i = 0; i < members.length; i += 2) if (Number(members[i + 1]) > now) yield members[i] as RoomCode;
        cursor = next;
      } while (cursor !== '0');
    },

    async readRoom(code, now) {
      const { room, files, trusted, edits, history, historyTexts, links } = keys.ofRoom(code);
      const touched = [room, files, trusted, edits, history, historyTexts, links];
      const reply = await redis.run(readRecordScript, touched, [now]);
      const webhooks = await webhookStore.read(code, now);
      return reply === null ? undefined : { ...recordOf(code, reply as RecordReply), ...(webhooks && { webhooks }) };
    },

    async restoreRoom(record, now) {
      const { room, trusted, files, edits, history, historyTexts, blobs, ...shard } = keys.ofRoom(record.code);
      const keepMs = record.expiresAt - now + rules.rememberExpiredMs + netMs;
      // The record of a recently expired room has the same key.
      if (Number(await redis.send(room, ['EXISTS', room])) === 1) return 'taken';
      if (!(await prepare(record, keepMs, now))) return 'taken';
      const { trash, trashOwners, storedBytes, webhooks, links } = shard;
      const lists = [room, trusted, files, edits, history, historyTexts];
      const touched = [...lists, blobs, trash, trashOwners, storedBytes, webhooks, links];
      const made = await redis.run(restoreRoomScript, touched, [keepMs, ...listsOf(record)]);
      return made === 1 ? 'restored' : 'taken';
    },

    ...createKeyArchive(redis, keys),
  };
}

type RecordReply = [text: FullTextReply, ...lists: string[][]];

function recordOf(code: RoomCode, [text, fields = [], files = [], trusted = [], ...rest]: RecordReply): RoomRecord {
  const [history = [], historyTexts = [], links = []] = rest;
  const [createdAt, expiresAt, pinMac = '', seq, pinAttempts, keepsHistory = null, revision, ...owned] = fields;
  const [client, network, textCharge, name, salt, createdBy, extendMs] = owned;
  const { content, entries, fullTextVersion, lastRefs } = textAndLogOf(text);
  return {
    code,
    createdAt: Number(createdAt),
    expiresAt: Number(expiresAt),
    pinMac: pinMac === '' ? undefined : new Uint8Array(Buffer.from(pinMac, 'hex')),
    ...(salt && { salt, fullTextVersion }),
    name: name ?? undefined,
    seq: Number(seq),
    pinAttempts: Number(pinAttempts),
    content,
    entries,
    lastRefs,
    history: historyOf(history, historyTexts),
    keepsHistory: keepsHistoryOf(keepsHistory),
    revision: Number(revision ?? content.version),
    owner: client ? { client, network: network || undefined } : undefined,
    ...(createdBy && { createdBy: createdBy as CreatedBy }),
    ...(extendMs && { extendMs: Number(extendMs) }),
    textCharge: textCharge ? Number(textCharge) : undefined,
    files: filesOf(files),
    trusted,
    links: linksOf(links),
  };
}

/** `texts` alternates versions and texts. */
function historyOf(infos: string[], texts: string[]): Checkpoint[] {
  const contents = new Map(pairsOf(texts));
  return infos.map(checkpointInfoOf).map((info) => ({ ...info, content: contents.get(String(info.version)) ?? '' }));
}

/** The lists for the script, each preceded by its length. */
function listsOf(record: RoomRecord): (string | number)[] {
  const fields = Object.entries(fieldsOf(record));
  // Indexes replace the seqs of the uploads: they preserve the order, and later files follow them.
  const files = record.files.map((file, i) => [file.id, file.blob, file.size, `${i}:${fileJson(file)}`]);
  const entries = record.entries.map((entry) => [entryJson(entry)]);
  const history = record.history.map(checkpointFields);
  const trusted = record.trusted.map((client) => [client]);
  const webhooks = record.webhooks ? [[record.code, webhooksEntry(record.webhooks, record.createdAt)]] : [];
  const lists = [fields, trusted, entries, history, files, webhooks, record.links.flatMap(linkFields)];
  return lists.flatMap((list) => [list.length, ...list.flat()]);
}

function fieldsOf({ content, pinMac, files, history, ...record }: RoomRecord): Record<string, string | number> {
  return {
    createdAt: record.createdAt,
    expiresAt: record.expiresAt,
    pinMac: hex(pinMac),
    seq: record.seq,
    ...content,
    textVersion: record.fullTextVersion ?? content.version,
    logVersion: content.version,
    lastRefs: JSON.stringify(record.lastRefs),
    keepsHistory: record.keepsHistory ? 1 : 0,
    revision: record.revision,
    fileCount: files.length,
    fileBytes: files.reduce((sum, { size }) => sum + size, 0),
    pinAttempts: record.pinAttempts,
    client: record.owner?.client ?? '',
    network: record.owner?.network ?? '',
    textCharge: record.textCharge ?? '',
    historyBytes: history.reduce((sum, { size }) => sum + size, 0),
    ...(record.name !== undefined && { name: record.name }),
    ...(record.salt !== undefined && { salt: record.salt }),
    ...(record.createdBy !== undefined && { createdBy: record.createdBy }),
    ...(record.extendMs !== undefined && { extendMs: record.extendMs }),
  };
}

/** KEYS: room, files, trusted, edits, history, history texts, links. ARGV: now. */
const readRecordScript = script(`${textAndLog}
local room = redis.call('HMGET', KEYS[1], 'createdAt', 'expiresAt', 'pinMac', 'seq', 'pinAttempts', 'keepsHistory', 'revision',
  'client', 'network', 'textCharge', 'name', 'salt', 'createdBy', 'extendMs')
if not room[2] or tonumber(room[2]) <= tonumber(ARGV[1]) then return false end
return {textAndLog(KEYS[1], KEYS[4], 1e9), room, redis.call('HVALS', KEYS[2]), redis.call('ZRANGE', KEYS[3], 0, -1),
  redis.call('ZRANGE', KEYS[5], 0, -1), redis.call('HGETALL', KEYS[6]), redis.call('HGETALL', KEYS[7])}
`);

/**
 * Adds the room to the list of rooms by expiry, so that the sweep finds it. An entry with the same expiry is left from
 * an interrupted restore. KEYS: all rooms by expiry. ARGV: code, expiresAt. Returns whether the code is ours.
 */
const claimRestoredScript = script(`
if redis.call('ZADD', KEYS[1], 'NX', ARGV[2], ARGV[1]) == 1 then return 1 end
return tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1])) == tonumber(ARGV[2]) and 1 or 0
`);

/**
 * KEYS: room, trusted, files, edits, history, history texts, blobs, trash, owners of the trash, stored bytes, webhooks,
 * links. ARGV: milliseconds to keep, then seven lists, each after the number of its items: fields of the room with their
 * values, trusted clients, entries of the log, checkpoints (version, json, content), files (id, blob, size, entry),
 * webhooks (code, entry), fields of the links with their values.
 */
const restoreRoomScript = script(`
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
for i = 2, 6 do redis.call('DEL', KEYS[i]) end
redis.call('DEL', KEYS[12])

local last = 1
local function each(size, restore)
  local count = tonumber(ARGV[last + 1])
  for i = 1, count do
    local first = last + 2 + (i - 1) * size
    restore(i, unpack(ARGV, first, first + size - 1))
  end
  last = last + 1 + count * size
end

each(2, function(_, field, value) redis.call('HSET', KEYS[1], field, value) end)
each(1, function(i, client) redis.call('ZADD', KEYS[2], i, client) end)
each(1, function(_, entry) redis.call('RPUSH', KEYS[4], entry) end)
each(3, function(_, version, info, content)
  redis.call('ZADD', KEYS[5], version, info)
  redis.call('HSET', KEYS[6], version, content)
end)
each(4, function(_, id, blob, size, entry)
  redis.call('HSET', KEYS[3], id, entry)
  redis.call('SADD', KEYS[7], blob)
  redis.call('SREM', KEYS[8], blob)
  redis.call('HDEL', KEYS[9], blob)
  redis.call('INCRBY', KEYS[10], size)
end)
each(2, function(_, code, entry) redis.call('HSET', KEYS[11], code, entry) end)
each(2, function(_, field, value) redis.call('HSET', KEYS[12], field, value) end)

for _, key in ipairs({KEYS[1], KEYS[2], KEYS[4], KEYS[5], KEYS[6], KEYS[12]}) do redis.call('PEXPIRE', key, ARGV[1]) end
return 1
`);
