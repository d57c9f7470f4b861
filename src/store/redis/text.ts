/** The text of a room, its log and its history. Edits are applied here: entries are opaque to the scripts. */

import type { MissingReason } from '../../core/ports/basics.ts';
import type { GuardRules } from '../../core/ports/rooms.ts';
import {
  type Checkpoint,
  type CheckpointInfo,
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
import { replay } from '../../text/document.ts';
import { createRunOnce, onceScripts, repeatedIn } from './idempotency.ts';
import { createRunner, inLiveRoom, type Keys, keysFor } from './keys.ts';

export function createTexts(redis: Redis, keys: Keys, rules: GuardRules): TextStore {
  const runOnce = createRunOnce(redis, keys);
  const run = createRunner(redis, keys, rules);

  return {
    async readText(code, now) {
      const reply = await run(readTextScript, code, now, recentEntries);
      if (typeof reply === 'string') return reply;
      const [textReply, charged, fields, logBytes] = reply;
      const { later, ...text } = textOf(textReply);
      const [checkpointVersion, keepsHistory = null, revision, salt] = fields;
      const quota = quotaOf(charged);
      return {
        ...text,
        logBytes,
        lastRefs: lastRefsOf(textReply, later),
        revision: Number(revision),
        checkpointVersion: Number(checkpointVersion),
        keepsHistory: keepsHistoryOf(keepsHistory),
        ...(salt && { isEncrypted: true as const }),
        ...(quota && { quota }),
      };
    },

    async readEdits(code, since, limit, now) {
      const reply = await run(readEditsScript, code, now, since, limit);
      return typeof reply === 'string' ? reply : reply.map(entryOf);
    },

    async appendText(code, append) {
      const { record, entry } = append;
      const args = [entry.writtenAt, ...argumentsOf(append), rules.rememberExpiredMs];
      const request = { record, room: code, now: entry.writtenAt };
      const reply = await runOnce(appendTextOnce, keysFor(appendTextScript, keys, code), args, request);
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
      const reply = await run(listHistoryScript, code, now);
      return typeof reply === 'string' ? reply : reply.map(checkpointInfoOf);
    },

    async readCheckpoint(code, version, now) {
      const reply = await run(readCheckpointScript, code, now, version);
      if (typeof reply === 'string') return reply;
      const [info, content] = reply;
      return { ...checkpointInfoOf(info), content };
    },

    compactText(code, { version, content, dropThrough, keep, lastRefs, current, checkpoint }, now) {
      const text = [version, content, dropThrough, JSON.stringify(lastRefs), ...retentionArguments(keep)];
      const added = checkpointArguments(checkpoint);
      return run(compactTextScript, code, now, current.version, current.revision, ...text, ...added);
    },

    clearHistory(code, { version, revision, content, fullTextVersion = version, lastRefs }, now) {
      const text = [content, fullTextVersion, JSON.stringify(lastRefs)];
      return run(clearHistoryScript, code, now, version, revision, ...text);
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
  entries: string[],
  full: number,
  lastRefs: string | null,
];

/** The text, the entries of the reply, and those of them that lead from the full text to it. */
export function textOf([fullText, version, writtenAt, log, fullTextVersion]: FullTextReply) {
  const entries = log.map(entryOf);
  const later = entries.filter((entry) => entry.version > fullTextVersion);
  const edits = later.map((entry) => entry.edits);
  const content = { content: replay(fullText, edits), version: Number(version), writtenAt: Number(writtenAt) };
  return { content, entries, later, fullTextVersion };
}

export const lastRefsOf = ([, , , , , refs]: FullTextReply, later: readonly TextEntry[]): LastRefs =>
  withRefsOf(refs ? (JSON.parse(refs) as LastRefs) : [], later);

/** Rooms of versions without a history have no such field. */
export const keepsHistoryOf = (field: string | null): boolean => field !== '0';

export const entryJson = ({ version, edits, sealed, deviceId, ref, writtenAt }: TextEntry): string =>
  JSON.stringify({ version, edits, sealed, deviceId, ref, writtenAt });

export function entryOf(json: string): TextEntry {
  const { version, edits, sealed, deviceId, ref, writtenAt } = JSON.parse(json) as TextEntry;
  const entry = { version, edits, deviceId, ref, writtenAt };
  return sealed === undefined ? entry : { ...entry, sealed };
}

export const checkpointInfoOf = (json: string): CheckpointInfo => ({ deviceId: undefined, ...JSON.parse(json) });

/** The arguments of the script after the time. */
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
export const checkpointFields = ({ version, writtenAt, deviceId, size, content }: Checkpoint): (string | number)[] => [
  version,
  JSON.stringify({ version, writtenAt, deviceId, size }),
  content,
];

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
 * The full text, the current version, its time, and the newest entries of the log: those that lead from the full text to
 * it, and at least `recent`. Its tag is another one after every change, and the same as long as the text is stored in the
 * same way.
 */
export const fullText = `${textVersions}
local function textTag(room)
  local fields = redis.call('HMGET', room, 'version', 'revision', 'textVersion', 'logVersion', 'writtenAt', 'createdAt')
  for i = 1, 6 do fields[i] = fields[i] or '' end
  return table.concat(fields, ' ')
end

local function fullText(room, edits, recent)
  local versions = textVersions(room)
  local count = math.max(versions.current - versions.full, recent)
  local entries = versions.isLogged and count > 0 and redis.call('LRANGE', edits, -count, -1) or {}
  local text = redis.call('HMGET', room, 'content', 'version', 'writtenAt', 'lastRefs')
  return {text[1], text[2], text[3], entries, versions.full, text[4]}
end
`;

const readTextScript = inLiveRoom('room, edits, history', 'now, recent').script<
  [text: FullTextReply, quota: QuotaReply, fields: (string | null)[], logBytes: number]
>(`${fullText}${logBytes}
local newest = redis.call('ZRANGE', history, -1, -1, 'WITHSCORES')[2] or '0'
local fields = redis.call('HMGET', room, 'keepsHistory', 'revision', 'version', 'salt')
local quota = redis.call('HMGET', room, 'textCharge', 'client', 'network', 'historyBytes')
local text = fullText(room, edits, tonumber(recent))
return {text, quota, {newest, fields[1], fields[2] or fields[3], fields[4]}, logBytes(room, edits)}
`);

const readEditsScript = inLiveRoom('room, edits', 'now, since, limit').script<
  string[] | 'no-log'
>(`${textVersions}${entriesSince}
return entriesSince(edits, textVersions(room), tonumber(since), tonumber(limit)) or 'no-log'
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
 * `dropThrough` is '' without a compaction. After the arguments it has those of a checkpoint. Returns the seq and the
 * bytes of the log after a compaction, or the current version, its revision and the entries up to it.
 */
const appendTextScript = inLiveRoom(
  'room, edits, history, historyTexts',
  'now, version, entry, previous, revision, dropThrough, content, lastRefs, keptSince, maxLogBytes',
).script(`${textVersions}${entriesSince}${dropEntries}${addCheckpoint}${keepWithRoom}
local versions, number = textVersions(room), tonumber(version)
local stored = redis.call('HGET', room, 'revision') or tostring(versions.current)
if versions.current ~= number - 1 or stored ~= previous then
  local isNear = versions.current - number < 1000
  return {'stale', versions.current, stored, isNear and entriesSince(edits, versions, number - 1)}
end

if not versions.isLogged then
  redis.call('DEL', edits)
  redis.call('HSET', room, 'textVersion', versions.current, 'logBytes', 0)
end
local bytes = logBytes(room, edits) + #entry
redis.call('RPUSH', edits, entry)
redis.call('HSET', room, 'version', version, 'logVersion', version, 'writtenAt', now, 'revision', revision,
  'logBytes', string.format('%.0f', bytes))

if dropThrough ~= '' then
  redis.call('HSET', room, 'content', content, 'textVersion', version, 'lastRefs', lastRefs)
  bytes = dropEntries(room, edits, number, tonumber(dropThrough), keptSince, maxLogBytes)
end

addCheckpoint(room, history, historyTexts, 11)
keepWithRoom()
return {'appended', redis.call('HINCRBY', room, 'seq', 1), dropThrough ~= '' and bytes}
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

/** After the arguments it has those of a checkpoint. */
const compactTextScript = inLiveRoom(
  'room, edits, history, historyTexts',
  'now, current, revision, version, content, dropThrough, lastRefs, keptSince, maxLogBytes',
).script<'compacted' | 'stale'>(`${isCurrent}${dropEntries}${addCheckpoint}${keepWithRoom}
if not isCurrent(room, current, revision) then return 'stale' end
if tonumber(redis.call('HGET', room, 'textVersion')) >= tonumber(version) then return 'compacted' end
redis.call('HSET', room, 'content', content, 'textVersion', version, 'lastRefs', lastRefs)
dropEntries(room, edits, tonumber(current), tonumber(dropThrough), keptSince, maxLogBytes)
addCheckpoint(room, history, historyTexts, 10)
keepWithRoom()
return 'compacted'
`);

const listHistoryScript = inLiveRoom('room, history', 'now').script<string[]>(`
return redis.call('ZREVRANGE', history, 0, -1)
`);

const readCheckpointScript = inLiveRoom('room, history, historyTexts', 'now, version').script<
  [info: string, content: string] | 'no-checkpoint'
>(`
local info = redis.call('ZRANGEBYSCORE', history, version, version)[1]
if not info then return 'no-checkpoint' end
return {info, redis.call('HGET', historyTexts, version)}
`);

const clearHistoryScript = inLiveRoom(
  'room, edits, history, historyTexts',
  'now, current, revision, content, version, lastRefs',
).scriptWhenFull<'cleared' | 'stale'>(`${isCurrent}${dropEntries}
if not isCurrent(room, current, revision) then return 'stale' end
redis.call('HSET', room, 'content', content, 'textVersion', version, 'logVersion', current, 'lastRefs', lastRefs)
dropEntries(room, edits, tonumber(current), tonumber(version), '', '')
redis.call('DEL', history, historyTexts)
redis.call('HDEL', room, 'historyBytes')
return 'cleared'
`);
