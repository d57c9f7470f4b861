/** Lua functions that several scripts share, prepended to the scripts that call them. */
import { unfinishedName } from '../../core/ports.ts';

/** The fields of a `Room`, as arguments of HMGET. Rooms without a name, and rooms that are not encrypted, lack a field. */
export const roomFields = "'createdAt', 'expiresAt', 'pinMac', 'fileCount', 'fileBytes', 'name', 'salt'";

/** Whether a room exists and has not expired. */
export const isLive = `
local function isLive(room, now)
  local expiresAt = redis.call('HGET', room, 'expiresAt')
  return expiresAt and tonumber(expiresAt) > tonumber(now)
end
`;

/** The MissingReason of a room; nil if it exists. */
export const absenceOf = `
local function absenceOf(room, now, rememberMs)
  local expiresAt = tonumber(redis.call('HGET', room, 'expiresAt') or 0)
  if expiresAt > tonumber(now) then return nil end
  return expiresAt > tonumber(now) - tonumber(rememberMs) and 'expired' or 'gone'
end
`;

/**
 * A file entry is a number and the JSON of the file. The number is the seq of a listed or removed file, which orders
 * files of the same moment, and the received bytes of an unfinished one.
 */
export const fileIn = `
local function fileIn(entry)
  return cjson.decode(string.match(entry, '^%d+:(.*)$'))
end
`;

/** Adds a file to the counts of its room. False if that would exceed the limits. */
export const countFile = `
local function countFile(room, storedBytes, size, maxFiles, maxBytes)
  local used = redis.call('HMGET', room, 'fileCount', 'fileBytes')
  if tonumber(used[1]) >= tonumber(maxFiles) or tonumber(used[2]) + tonumber(size) > tonumber(maxBytes) then
    return false
  end
  redis.call('HINCRBY', room, 'fileCount', 1)
  redis.call('HINCRBY', room, 'fileBytes', size)
  redis.call('INCRBY', storedBytes, size)
  return true
end
`;

/**
 * Moves the bytes of a file to the trash under a name, with its owner, because they count until they are removed. Files
 * from versions without quotas have no owner and were never counted.
 */
const discard = `
local function discard(file, name, blobs, trash, trashOwners, storedBytes)
  redis.call('SREM', blobs, file.blob, name)
  redis.call('SADD', trash, name)
  if file.owner == nil then return end
  -- Not -file.size: of an empty file that is -0, which is not a number for Redis.
  redis.call('INCRBY', storedBytes, 0 - file.size)
  if file.owner == cjson.null then return end
  file.owner.blob = file.blob
  redis.call('HSET', trashOwners, name, cjson.encode(file.owner))
end
`;

/**
 * Drops a removed or an unfinished file from the list of its room, and from the due ones of all rooms. Returns whether
 * it was there. If no sweep ran for long, Redis has removed the room, and its counts must not be created again.
 */
export const dropFile = `${fileIn}${discard}
local function dropFile(room, list, due, id, member, suffix, ...)
  redis.call('ZREM', due, member)
  local entry = redis.call('HGET', list, id)
  if not entry then return 0 end
  redis.call('HDEL', list, id)
  local file = fileIn(entry)
  discard(file, file.blob .. suffix, ...)
  if redis.call('HEXISTS', room, 'fileCount') == 1 then
    redis.call('HINCRBY', room, 'fileCount', -1)
    redis.call('HINCRBY', room, 'fileBytes', 0 - file.size)
  end
  return 1
end
`;

/** A counted text continues to count until the account of its owner, which is on another node, has been changed. */
export const endText = `
local function endText(room, endedTexts, code)
  local text = redis.call('HMGET', room, 'textCharge', 'client', 'network')
  if (tonumber(text[1] or '') or 0) == 0 then return 0 end
  redis.call('HSET', endedTexts, code, text[2] .. ' ' .. text[3])
  return 1
end
`;

/** Deletes the files of a room, finished or not, and moves their bytes to the trash. Returns their ids. */
export const dropFiles = `${fileIn}${discard}
local function dropFiles(code, files, removed, uploads, removals, uploadEnds, ...)
  local shard, ids = {...}, {}
  local function drop(list, suffix, due)
    local entries = redis.call('HGETALL', list)
    for i = 1, #entries, 2 do
      local file = fileIn(entries[i + 1])
      discard(file, file.blob .. suffix, unpack(shard))
      if due then redis.call('ZREM', due, code .. ' ' .. entries[i]) end
      ids[#ids + 1] = entries[i]
    end
    redis.call('DEL', list)
  end
  drop(files, '')
  drop(removed, '', removals)
  drop(uploads, '${unfinishedName('')}', uploadEnds)
  return ids
end
`;

/**
 * The text of a room: `content` is the full text of `textVersion`, and the log ends with the entry that created
 * `logVersion`. A node of a version without a log writes only `content` and `version`. Then `logVersion` is not the
 * current version: the full text is current, and the log does not lead to it.
 */
export const textVersions = `
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
export const logBytes = `
local function logBytes(room, edits)
  local known = redis.call('HGET', room, 'logBytes')
  if known then return tonumber(known) end
  local bytes = 0
  for _, entry in ipairs(redis.call('LRANGE', edits, 0, -1)) do bytes = bytes + #entry end
  return bytes
end
`;

/** The full text, the current version, its time, and the entries that lead from the full text to it. */
export const fullText = `${textVersions}${entriesSince}
local function fullText(room, edits)
  local versions = textVersions(room)
  local text = redis.call('HMGET', room, 'content', 'version', 'writtenAt')
  text[4] = entriesSince(edits, versions, versions.full)
  text[5] = versions.full
  text[6] = redis.call('HGET', room, 'lastRefs')
  return text
end
`;

/** The same with the newest entries of the log, which may go further back than the full text: at least `recent`. */
export const textAndLog = `${textVersions}
local function textAndLog(room, edits, recent)
  local versions = textVersions(room)
  local text = redis.call('HMGET', room, 'content', 'version', 'writtenAt')
  local count = math.max(versions.current - versions.full, recent)
  text[4] = versions.isLogged and redis.call('LRANGE', edits, -count, -1) or {}
  text[5] = versions.full
  text[6] = redis.call('HGET', room, 'lastRefs')
  return text
end
`;
