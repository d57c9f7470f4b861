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
import { createRunner, type Keys, keysFor, netMs, onKeys, pairsOf } from './keys.ts';
import { linkFields, linksOf } from './links.ts';
import type { RedisStorage } from './quota.ts';
import { fieldsOfNew, roomFields, roomOf } from './rooms.ts';
import {
  checkpointFields,
  checkpointInfoOf,
  entryJson,
  type FullTextReply,
  fullText,
  keepsHistoryOf,
  lastRefsOf,
  textOf,
} from './text.ts';
import { createWebhookStore, webhooksEntry } from './webhooks.ts';

const batchSize = '500';

export function createArchive(redis: Redis, keys: Keys, rules: GuardRules, storage: RedisStorage): Archive {
  const webhookStore = createWebhookStore(redis, keys, rules);
  const run = createRunner(redis, keys, rules);

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
      const reply = await run(readRecordScript, code, now);
      const webhooks = await webhookStore.read(code, now);
      return reply === null ? undefined : { ...recordOf(code, reply), ...(webhooks && { webhooks }) };
    },

    async restoreRoom(record, now) {
      const { room } = keys.ofRoom(record.code);
      const keepMs = record.expiresAt - now + rules.rememberExpiredMs + netMs;
      // The record of a recently expired room has the same key.
      if (Number(await redis.send(room, ['EXISTS', room])) === 1) return 'taken';
      if (!(await prepare(record, keepMs, now))) return 'taken';
      const touched = keysFor(restoreRoomScript, keys, record.code);
      const made = await redis.run(restoreRoomScript, touched, [keepMs, ...listsOf(record)]);
      return made === 1 ? 'restored' : 'taken';
    },

    ...createKeyArchive(redis, keys),
  };
}

type RecordReply = [text: FullTextReply, ...lists: string[][]];

function recordOf(code: RoomCode, [text, fields = [], files = [], trusted = [], ...rest]: RecordReply): RoomRecord {
  const [history = [], historyTexts = [], links = []] = rest;
  const { hasPin, fileCount, fileBytes, ...room } = roomOf(code, fields);
  const pinMac = fields[2];
  const [seq, pinAttempts, keepsHistory = null, revision, client, network, textCharge, createdBy] = fields.slice(8);
  const { content, entries, later, fullTextVersion } = textOf(text);
  return {
    ...room,
    ...(room.salt && { fullTextVersion }),
    pinMac: pinMac ? new Uint8Array(Buffer.from(pinMac, 'hex')) : undefined,
    seq: Number(seq),
    pinAttempts: Number(pinAttempts),
    content,
    entries,
    lastRefs: lastRefsOf(text, later),
    history: historyOf(history, historyTexts),
    keepsHistory: keepsHistoryOf(keepsHistory),
    revision: Number(revision ?? content.version),
    owner: client ? { client, network: network || undefined } : undefined,
    ...(createdBy && { createdBy: createdBy as CreatedBy }),
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

function fieldsOf(record: RoomRecord): Record<string, string | number> {
  const { content, files, history } = record;
  return {
    ...fieldsOfNew(record),
    ...content,
    seq: record.seq,
    textVersion: record.fullTextVersion ?? content.version,
    logVersion: content.version,
    lastRefs: JSON.stringify(record.lastRefs),
    revision: record.revision,
    fileCount: files.length,
    fileBytes: files.reduce((sum, { size }) => sum + size, 0),
    pinAttempts: record.pinAttempts,
    textCharge: record.textCharge ?? '',
    historyBytes: history.reduce((sum, { size }) => sum + size, 0),
  };
}

const readRecordScript = onKeys(
  'room, files, trusted, edits, history, historyTexts, links',
  'now',
).script<RecordReply | null>(`${fullText}
local fields = redis.call('HMGET', room, ${roomFields}, 'seq', 'pinAttempts', 'keepsHistory', 'revision', 'client',
  'network', 'textCharge', 'createdBy')
if not fields[2] or tonumber(fields[2]) <= tonumber(now) then return false end
return {fullText(room, edits, 1e9), fields, redis.call('HVALS', files), redis.call('ZRANGE', trusted, 0, -1),
  redis.call('ZRANGE', history, 0, -1), redis.call('HGETALL', historyTexts), redis.call('HGETALL', links)}
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
 * After its argument it has seven lists, each after the number of its items: fields of the room with their values,
 * trusted clients, entries of the log, checkpoints (version, json, content), files (id, blob, size, entry), webhooks
 * (code, entry), fields of the links with their values.
 */
const restoreRoomScript = onKeys(
  'room, trusted, files, edits, history, historyTexts, blobs, trash, trashOwners, storedBytes, webhooks, links',
  'keepMs',
).script(`
if redis.call('EXISTS', room) == 1 then return 0 end
redis.call('DEL', trusted, files, edits, history, historyTexts, links)

local last = 1
local function each(size, restore)
  local count = tonumber(ARGV[last + 1])
  for i = 1, count do
    local first = last + 2 + (i - 1) * size
    restore(i, unpack(ARGV, first, first + size - 1))
  end
  last = last + 1 + count * size
end

each(2, function(_, field, value) redis.call('HSET', room, field, value) end)
each(1, function(i, client) redis.call('ZADD', trusted, i, client) end)
each(1, function(_, entry) redis.call('RPUSH', edits, entry) end)
each(3, function(_, version, info, content)
  redis.call('ZADD', history, version, info)
  redis.call('HSET', historyTexts, version, content)
end)
each(4, function(_, id, blob, size, entry)
  redis.call('HSET', files, id, entry)
  redis.call('SADD', blobs, blob)
  redis.call('SREM', trash, blob)
  redis.call('HDEL', trashOwners, blob)
  redis.call('INCRBY', storedBytes, size)
end)
each(2, function(_, code, entry) redis.call('HSET', webhooks, code, entry) end)
each(2, function(_, field, value) redis.call('HSET', links, field, value) end)

for _, key in ipairs({room, trusted, edits, history, historyTexts, links}) do redis.call('PEXPIRE', key, keepMs) end
return 1
`);
