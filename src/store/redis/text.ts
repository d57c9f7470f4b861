/** The text of a room, its log and its history. Edits are applied here: entries are opaque to the scripts. */

import type { MissingReason } from '../../core/ports/basics.ts';
import type { GuardRules } from '../../core/ports/rooms.ts';
import {
  type Checkpoint,
  type CheckpointInfo,
  type Content,
  type LastRefs,
  type LogRetention,
  recentEntries,
  type TextAppend,
  type TextEntry,
  type TextQuota,
  type TextStore,
  withRefsOf,
} from '../../core/ports/texts.ts';
import type { Redis } from '../../redis/connection.ts';
import { script, scriptWhenFull } from '../../redis/script.ts';
import { replay } from '../../text/document.ts';
import { createRunOnce, onceScripts, repeatedIn } from './idempotency.ts';
import { type Keys, returnIfMissing } from './keys.ts';

export function createTexts(redis: Redis, keys: Keys, { rememberExpiredMs }: GuardRules): TextStore {
  const runOnce = createRunOnce(redis, keys);

  return {
    async readText(code, now) {
      const { room, edits, history } = keys.ofRoom(code);
      const reply = await redis.run(readTextScript, [room, edits, history], [now, rememberExpiredMs, recentEntries]);
      if (typeof reply === 'string') return reply as MissingReason;
      const [text, charged, fields, logBytes] = reply as [FullTextReply, QuotaReply, (string | null)[], number];
      const [checkpointVersion, keepsHistory = null, revision, salt] = fields;
      const quota = quotaOf(charged);
      return {
        ...textAndLogOf(text),
        logBytes,
        revision: Number(revision),
        checkpointVersion: Number(checkpointVersion),
        keepsHistory: keepsHistoryOf(keepsHistory),
        ...(salt && { isEncrypted: true as const }),
        ...(quota && { quota }),
      };
    },

    async readEdits(code, since, limit, now) {
      const { room, edits } = keys.ofRoom(code);
      const reply = await redis.run(readEditsScript, [room, edits], [now, rememberExpiredMs, since, limit]);
      return typeof reply === 'string' ? (reply as MissingReason | 'no-log') : (reply as string[]).map(entryOf);
    },

    async appendText(code, append) {
      const { room, edits, history, historyTexts } = keys.ofRoom(code);
      const { record, entry } = append;
      const args = [entry.writtenAt, rememberExpiredMs, ...argumentsOf(append)];
      const request = { record, room: code, now: entry.writtenAt };
      const reply = await runOnce(appendTextOnce, [room, edits, history, historyTexts], args, request);
      const repeated = repeatedIn(reply);
      if (repeated) return { outcome: 'repeated', request: repeated };
      if (typeof reply === 'string') return { outcome: reply as MissingReason };
      const [outcome, ...rest] = reply as ['appended' | 'stale', ...unknown[]];
      if (outcome === 'appended') {
        const [seq, logBytes] = rest as [seq: number, logBytes: number | null];
        return logBytes === null ? { outcome, seq } : { outcome, seq, logBytes };
      }
      const [version, revision, entries] = rest as [number, string, string[] | null];
      return { outcome, version, revision: Number(revision), entries: entries?.map(entryOf) };
    },

    async listHistory(code, now) {
      const { room, history } = keys.ofRoom(code);
      const reply = await redis.run(listHistoryScript, [room, history], [now, rememberExpiredMs]);
      return typeof reply === 'string' ? (reply as MissingReason) : (reply as string[]).map(checkpointInfoOf);
    },

    async readCheckpoint(code, version, now) {
      const { room, history, historyTexts } = keys.ofRoom(code);
      const args = [now, rememberExpiredMs, version];
      const reply = await redis.run(readCheckpointScript, [room, history, historyTexts], args);
      if (typeof reply === 'string') return reply as MissingReason | 'no-checkpoint';
      const [info, content] = reply as [string, string];
      return { ...checkpointInfoOf(info), content };
    },

    async compactText(code, { version, content, dropThrough, keep, lastRefs, current, checkpoint }, now) {
      const { room, edits, history, historyTexts } = keys.ofRoom(code);
      const times = [now, rememberExpiredMs, current.version, current.revision];
      const text = [version, content, dropThrough, JSON.stringify(lastRefs), ...retentionArguments(keep)];
      const args = [...times, ...text, ...checkpointArguments(checkpoint)];
      const reply = await redis.run(compactTextScript, [room, edits, history, historyTexts], args);
      return reply as 'compacted' | 'stale' | MissingReason;
    },

    async clearHistory(code, { version, revision, content, fullTextVersion = version, lastRefs }, now) {
      const { room, edits, history, historyTexts } = keys.ofRoom(code);
      const args = [now, rememberExpiredMs, version, revision, content, fullTextVersion, JSON.stringify(lastRefs)];
      const reply = await redis.run(clearHistoryScript, [room, edits, history, historyTexts], args);
      return reply as 'cleared' | 'stale' | MissingReason;
    },
  };
}

type QuotaReply = (string | null)[];

function quotaOf([charged, client, network, historyBytes]: QuotaReply): TextQuota | undefined {
  if (!charged || !client) return undefined;
  const owner = { client, network: network || undefined };
  return { owner, charged: Number(charged), historyBytes: Number(historyBytes ?? 0) };
}

/**
 * The full text, the current version, its time, the entries that lead from the full text to it, the version of the full
 * text and its last refs.
 */
export type FullTextReply = [
  content: string,
  version: string,
  writtenAt: string,
  entries: string[] | null,
  full: number,
  lastRefs: string | null,
];

export function contentOf([content, version, writtenAt, entries]: FullTextReply): Content {
  return toContent(content, (entries ?? []).map(entryOf), version, writtenAt);
}

/** The same of an encrypted room. */
export function sealedTextOf([content, version, writtenAt, entries, contentVersion]: FullTextReply) {
  return {
    content: { content, version: Number(version), writtenAt: Number(writtenAt) },
    sealed: { contentVersion, entries: (entries ?? []).map(entryOf) },
  };
}

export function lastRefsOf(json: string | null, later: readonly TextEntry[]): LastRefs {
  return withRefsOf(json ? (JSON.parse(json) as LastRefs) : [], later);
}

/** The same with entries from before the full text. */
export function textAndLogOf([content, version, writtenAt, log, fullTextVersion, refs]: FullTextReply) {
  const entries = (log ?? []).map(entryOf);
  const later = entries.filter((entry) => entry.version > fullTextVersion);
  const lastRefs = lastRefsOf(refs, later);
  return { content: toContent(content, later, version, writtenAt), entries, fullTextVersion, lastRefs };
}

function toContent(fullText: string, entries: TextEntry[], version: string, writtenAt: string): Content {
  const edits = entries.map((entry) => entry.edits);
  return { content: replay(fullText, edits), version: Number(version), writtenAt: Number(writtenAt) };
}

/** Rooms of versions without a history have no such field. */
export const keepsHistoryOf = (field: string | null): boolean => field !== '0';

export function entryJson({ version, edits, sealed, deviceId, ref, writtenAt }: TextEntry): string {
  return JSON.stringify({ version, edits, sealed, deviceId, ref, writtenAt });
}

export function entryOf(json: string): TextEntry {
  const { version, edits, sealed, deviceId, ref, writtenAt } = JSON.parse(json) as TextEntry;
  const entry = { version, edits, deviceId, ref, writtenAt };
  return sealed === undefined ? entry : { ...entry, sealed };
}

export function checkpointInfoOf(json: string): CheckpointInfo {
  const { version, writtenAt, deviceId, size } = JSON.parse(json) as CheckpointInfo;
  return { version, writtenAt, deviceId, size };
}

/** The arguments of the script after the times. */
function argumentsOf({ entry, revision, previousRevision, compaction, checkpoint }: TextAppend): (string | number)[] {
  const appended = [entry.version, entryJson(entry), previousRevision, revision];
  const compacted = compaction
    ? [compaction.dropThrough, compaction.content, JSON.stringify(compaction.lastRefs ?? [])]
    : ['', '', ''];
  return [...appended, ...compacted, ...retentionArguments(compaction?.keep), ...checkpointArguments(checkpoint)];
}

const retentionArguments = (keep: LogRetention | undefined) => [keep?.writtenSince ?? '', keep?.maxBytes ?? ''];

function checkpointArguments(kept: TextAppend['checkpoint']): (string | number)[] {
  if (!kept) return [''];
  const { checkpoint, limits } = kept;
  return [...checkpointFields(checkpoint), limits.checkpoints, limits.bytes];
}

/** A checkpoint as script arguments: version, json, content. */
export function checkpointFields({ version, writtenAt, deviceId, size, content }: Checkpoint): (string | number)[] {
  return [version, JSON.stringify({ version, writtenAt, deviceId, size }), content];
}

/**
 * The text of a room: `content` is the full text of `textVersion`, and the log ends with the entry that created
 * `logVersion`. A node of a version without a log writes only `content` and `version`. Then `logVersion` is not the
 * current version: the full text is current, and the log does not lead to it.
 */
const textVersions = `
local function textVersions(room)
  local fields = redis.call('HMGET', room, 'version', 'textVersion', 'logVersion')
  local current, isLogged = tonumber(fields[1]), fields[3] == fields[1]
  return {current = current, full = isLogged and tonumber(fields[2]) or current, isLogged = isLogged}
end

local function textOf(room, versions, entries)
  local text = redis.call('HMGET', room, 'content', 'version', 'writtenAt', 'lastRefs')
  return {text[1], text[2], text[3], entries, versions.full, text[4]}
end
`;

/** Up to `limit` entries after a version, oldest first; false if the log does not lead from it to the current one. */
export const entriesSince = `
local function entriesSince(edits, versions, since, limit)
  local count = versions.current - since
  if count == 0 then return {} end
  if count < 0 or not versions.isLogged or redis.call('LLEN', edits) < count then return false end
  return redis.call('LRANGE', edits, -count, limit and limit < count and limit - count - 1 or -1)
end
`;

/** The bytes of the log of a room. Rooms of versions that kept a short log lack the field. */
const logBytes = `
local function logBytes(room, edits)
  local known = redis.call('HGET', room, 'logBytes')
  if known then return tonumber(known) end
  local bytes = 0
  for _, entry in ipairs(redis.call('LRANGE', edits, 0, -1)) do bytes = bytes + #entry end
  return bytes
end
`;

/**
 * The full text, the current version, its time, and the entries that lead from the full text to it. Its tag is another
 * one after every change, and the same as long as the text is stored in the same way.
 */
export const fullText = `${textVersions}${entriesSince}
local function textTag(room)
  local fields = redis.call('HMGET', room, 'version', 'revision', 'textVersion', 'logVersion', 'writtenAt', 'createdAt')
  for i = 1, 6 do fields[i] = fields[i] or '' end
  return table.concat(fields, ' ')
end

local function fullText(room, edits)
  local versions = textVersions(room)
  return textOf(room, versions, entriesSince(edits, versions, versions.full))
end
`;

/** The same with the newest entries of the log, which may go further back than the full text: at least `recent`. */
export const textAndLog = `${textVersions}
local function textAndLog(room, edits, recent)
  local versions = textVersions(room)
  local count = math.max(versions.current - versions.full, recent)
  return textOf(room, versions, versions.isLogged and redis.call('LRANGE', edits, -count, -1) or {})
end
`;

/** KEYS: room, edits, history. ARGV: now, rememberExpiredMs, the number of recent entries. */
const readTextScript = script(`${returnIfMissing}${textAndLog}${logBytes}
local newest = redis.call('ZRANGE', KEYS[3], -1, -1, 'WITHSCORES')[2] or '0'
local room = redis.call('HMGET', KEYS[1], 'keepsHistory', 'revision', 'version', 'salt')
local quota = redis.call('HMGET', KEYS[1], 'textCharge', 'client', 'network', 'historyBytes')
local text = textAndLog(KEYS[1], KEYS[2], tonumber(ARGV[3]))
return {text, quota, {newest, room[1], room[2] or room[3], room[4]}, logBytes(KEYS[1], KEYS[2])}
`);

/** KEYS: room, edits. ARGV: now, rememberExpiredMs, version, limit. */
const readEditsScript = script(`${returnIfMissing}${textVersions}${entriesSince}
return entriesSince(KEYS[2], textVersions(KEYS[1]), tonumber(ARGV[3]), tonumber(ARGV[4])) or 'no-log'
`);

/**
 * Drops the oldest entries through a version, except those written since a moment as long as the log has no more than
 * some bytes ('' for none). At most 5,000 of them, because other commands wait; the next compaction continues.
 */
const dropEntries = `${logBytes}
local function dropEntries(room, edits, current, through, writtenSince, maxBytes)
  local bytes, first = logBytes(room, edits), current - redis.call('LLEN', edits) + 1
  if writtenSince == '' then
    local kept = current - through
    if kept > 0 then redis.call('LTRIM', edits, -kept, -1) else redis.call('DEL', edits) end
    redis.call('HDEL', room, 'logBytes')
    bytes = logBytes(room, edits)
  else
    for version = first, math.min(through, first + 4999) do
      local entry = redis.call('LINDEX', edits, 0)
      local writtenAt = tonumber(string.match(entry, '"writtenAt":(%d+)}$'))
      if writtenAt >= tonumber(writtenSince) and bytes <= tonumber(maxBytes) then break end
      redis.call('LPOP', edits)
      bytes = bytes - #entry
    end
  end
  redis.call('HSET', room, 'logBytes', string.format('%.0f', bytes))
  return bytes
end
`;

/** Keeps the newest checkpoint regardless of the limits. Returns the remaining bytes. */
const dropOldest = `
local function dropOldest(history, texts, maxCheckpoints, maxBytes)
  local checkpoints, bytes = redis.call('ZRANGE', history, 0, -1), 0
  for i, info in ipairs(checkpoints) do
    checkpoints[i] = cjson.decode(info)
    bytes = bytes + checkpoints[i].size
  end
  for i = 1, #checkpoints - 1 do
    if #checkpoints - i < maxCheckpoints and bytes <= maxBytes then break end
    local version = checkpoints[i].version
    redis.call('ZREMRANGEBYSCORE', history, version, version)
    redis.call('HDEL', texts, version)
    bytes = bytes - checkpoints[i].size
  end
  return bytes
end
`;

/** Stores a checkpoint, whose arguments start at `at`: version ('' for none), json, content, max checkpoints, max bytes. */
const addCheckpoint = `${dropOldest}
local function addCheckpoint(room, history, texts, at)
  if ARGV[at] == '' then return end
  redis.call('ZREMRANGEBYSCORE', history, ARGV[at], ARGV[at])
  redis.call('ZADD', history, ARGV[at], ARGV[at + 1])
  redis.call('HSET', texts, ARGV[at], ARGV[at + 2])
  local bytes = dropOldest(history, texts, tonumber(ARGV[at + 3]), tonumber(ARGV[at + 4]))
  redis.call('HSET', room, 'historyBytes', string.format('%.0f', bytes))
end
`;

/** The log ends with the room. */
const keepWithRoom = `
local function keepWithRoom()
  local keepMs = redis.call('PTTL', KEYS[1])
  if keepMs > 0 then
    for i = 2, 4 do redis.call('PEXPIRE', KEYS[i], keepMs) end
  end
end
`;

/**
 * KEYS: room, edits, history, history texts. ARGV: now, rememberExpiredMs, version of the entry, the entry, previous
 * revision, revision; up to which version compaction drops entries ('' for no compaction), the full text, its last refs,
 * since when entries are kept ('' for none) up to how many bytes; version of the checkpoint ('' for none), its json, its
 * content, max checkpoints, max bytes. Returns the seq and the bytes of the log after a compaction, or the current
 * version, its revision and the entries up to it.
 */
const appendTextScript =
  script(`${returnIfMissing}${textVersions}${entriesSince}${dropEntries}${addCheckpoint}${keepWithRoom}
local versions, version = textVersions(KEYS[1]), tonumber(ARGV[3])
local revision = redis.call('HGET', KEYS[1], 'revision') or tostring(versions.current)
if versions.current ~= version - 1 or revision ~= ARGV[5] then
  local isNear = versions.current - version < 1000
  return {'stale', versions.current, revision, isNear and entriesSince(KEYS[2], versions, version - 1)}
end

if not versions.isLogged then
  redis.call('DEL', KEYS[2])
  redis.call('HSET', KEYS[1], 'textVersion', versions.current, 'logBytes', 0)
end
local bytes = logBytes(KEYS[1], KEYS[2]) + #ARGV[4]
redis.call('RPUSH', KEYS[2], ARGV[4])
redis.call('HSET', KEYS[1], 'version', ARGV[3], 'logVersion', ARGV[3], 'writtenAt', ARGV[1], 'revision', ARGV[6],
  'logBytes', string.format('%.0f', bytes))

if ARGV[7] ~= '' then
  redis.call('HSET', KEYS[1], 'content', ARGV[8], 'textVersion', ARGV[3], 'lastRefs', ARGV[9])
  bytes = dropEntries(KEYS[1], KEYS[2], version, tonumber(ARGV[7]), ARGV[10], ARGV[11])
end

addCheckpoint(KEYS[1], KEYS[3], KEYS[4], 12)
keepWithRoom()
return {'appended', redis.call('HINCRBY', KEYS[1], 'seq', 1), ARGV[7] ~= '' and bytes}
`);

/** With and without the record of its request. */
const appendTextOnce = onceScripts(appendTextScript, "type(reply) == 'table' and reply[1] == 'appended'");

/** Whether the text of a room is the one of a version and a revision. */
const isCurrent = `
local function isCurrent(room, version, revision)
  local fields = redis.call('HMGET', room, 'version', 'revision')
  return fields[1] == version and (fields[2] or fields[1]) == revision
end
`;

/**
 * KEYS: room, edits, history, history texts. ARGV: now, rememberExpiredMs, current version, its revision; version of the
 * full text, the full text, up to which version entries are dropped, the last refs, since when entries are kept up to
 * how many bytes; a checkpoint as for appendText.
 */
const compactTextScript = script(`${returnIfMissing}${isCurrent}${dropEntries}${addCheckpoint}${keepWithRoom}
if not isCurrent(KEYS[1], ARGV[3], ARGV[4]) then return 'stale' end
if tonumber(redis.call('HGET', KEYS[1], 'textVersion')) >= tonumber(ARGV[5]) then return 'compacted' end
redis.call('HSET', KEYS[1], 'content', ARGV[6], 'textVersion', ARGV[5], 'lastRefs', ARGV[8])
dropEntries(KEYS[1], KEYS[2], tonumber(ARGV[3]), tonumber(ARGV[7]), ARGV[9], ARGV[10])
addCheckpoint(KEYS[1], KEYS[3], KEYS[4], 11)
keepWithRoom()
return 'compacted'
`);

/** KEYS: room, history. ARGV: now, rememberExpiredMs. */
const listHistoryScript = script(`${returnIfMissing}
return redis.call('ZREVRANGE', KEYS[2], 0, -1)
`);

/** KEYS: room, history, history texts. ARGV: now, rememberExpiredMs, version. */
const readCheckpointScript = script(`${returnIfMissing}
local info = redis.call('ZRANGEBYSCORE', KEYS[2], ARGV[3], ARGV[3])[1]
if not info then return 'no-checkpoint' end
return {info, redis.call('HGET', KEYS[3], ARGV[3])}
`);

/**
 * KEYS: room, edits, history, history texts. ARGV: now, rememberExpiredMs, version, revision, the full text, its
 * version, its last refs.
 */
const clearHistoryScript = scriptWhenFull(`${returnIfMissing}${isCurrent}${dropEntries}
if not isCurrent(KEYS[1], ARGV[3], ARGV[4]) then return 'stale' end
redis.call('HSET', KEYS[1], 'content', ARGV[5], 'textVersion', ARGV[6], 'logVersion', ARGV[3], 'lastRefs', ARGV[7])
dropEntries(KEYS[1], KEYS[2], tonumber(ARGV[3]), tonumber(ARGV[6]), '', '')
redis.call('DEL', KEYS[3], KEYS[4])
redis.call('HDEL', KEYS[1], 'historyBytes')
return 'cleared'
`);
