/** Scripts of the text and its history. See scripts.ts for what applies to all scripts. Entries are opaque here. */
import { script, scriptWhenFull } from '../../redis/script.ts';
import { onceScripts } from './idempotency.ts';
import { absenceOf, entriesSince, logBytes, textAndLog, textVersions } from './lua.ts';

/** KEYS: room, edits, history. ARGV: now, rememberExpiredMs, the number of recent entries. */
export const readText = script(`${absenceOf}${textAndLog}${logBytes}
local absence = absenceOf(KEYS[1], ARGV[1], ARGV[2])
if absence then return absence end
local newest = redis.call('ZRANGE', KEYS[3], -1, -1, 'WITHSCORES')
local room = redis.call('HMGET', KEYS[1], 'keepsHistory', 'revision', 'version')
local quota = redis.call('HMGET', KEYS[1], 'textCharge', 'client', 'network', 'historyBytes')
local salt = redis.call('HGET', KEYS[1], 'salt')
local text = textAndLog(KEYS[1], KEYS[2], tonumber(ARGV[3]))
return {text, newest[2] or '0', room[1], room[2] or room[3], quota, salt, logBytes(KEYS[1], KEYS[2])}
`);

/** KEYS: room, edits. ARGV: now, rememberExpiredMs, version, limit. */
export const readEdits = script(`${absenceOf}${textVersions}${entriesSince}
local absence = absenceOf(KEYS[1], ARGV[1], ARGV[2])
if absence then return absence end
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
const appendText = script(`${absenceOf}${textVersions}${entriesSince}${dropEntries}${addCheckpoint}${keepWithRoom}
local absence = absenceOf(KEYS[1], ARGV[1], ARGV[2])
if absence then return absence end
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
export const appendTextOnce = onceScripts(appendText, "type(reply) == 'table' and reply[1] == 'appended'");

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
export const compactText = script(`${absenceOf}${isCurrent}${dropEntries}${addCheckpoint}${keepWithRoom}
local absence = absenceOf(KEYS[1], ARGV[1], ARGV[2])
if absence then return absence end
if not isCurrent(KEYS[1], ARGV[3], ARGV[4]) then return 'stale' end
if tonumber(redis.call('HGET', KEYS[1], 'textVersion')) >= tonumber(ARGV[5]) then return 'compacted' end
redis.call('HSET', KEYS[1], 'content', ARGV[6], 'textVersion', ARGV[5], 'lastRefs', ARGV[8])
dropEntries(KEYS[1], KEYS[2], tonumber(ARGV[3]), tonumber(ARGV[7]), ARGV[9], ARGV[10])
addCheckpoint(KEYS[1], KEYS[3], KEYS[4], 11)
keepWithRoom()
return 'compacted'
`);

/** KEYS: room, history. ARGV: now, rememberExpiredMs. */
export const listHistory = script(`${absenceOf}
local absence = absenceOf(KEYS[1], ARGV[1], ARGV[2])
if absence then return absence end
return redis.call('ZREVRANGE', KEYS[2], 0, -1)
`);

/** KEYS: room, history, history texts. ARGV: now, rememberExpiredMs, version. */
export const readCheckpoint = script(`${absenceOf}
local absence = absenceOf(KEYS[1], ARGV[1], ARGV[2])
if absence then return absence end
local info = redis.call('ZRANGEBYSCORE', KEYS[2], ARGV[3], ARGV[3])[1]
if not info then return 'no-checkpoint' end
return {info, redis.call('HGET', KEYS[3], ARGV[3])}
`);

/**
 * KEYS: room, edits, history, history texts. ARGV: now, rememberExpiredMs, version, revision, the full text, its
 * version, its last refs.
 */
export const clearHistory = scriptWhenFull(`${absenceOf}${isCurrent}${dropEntries}
local absence = absenceOf(KEYS[1], ARGV[1], ARGV[2])
if absence then return absence end
if not isCurrent(KEYS[1], ARGV[3], ARGV[4]) then return 'stale' end
redis.call('HSET', KEYS[1], 'content', ARGV[5], 'textVersion', ARGV[6], 'logVersion', ARGV[3], 'lastRefs', ARGV[7])
dropEntries(KEYS[1], KEYS[2], tonumber(ARGV[3]), tonumber(ARGV[6]), '', '')
redis.call('DEL', KEYS[3], KEYS[4])
redis.call('HDEL', KEYS[1], 'historyBytes')
return 'cleared'
`);
