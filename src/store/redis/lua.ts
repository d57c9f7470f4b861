/** Lua functions that several scripts share, prepended to the scripts that call them. */

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

/** A file entry is the seq of its upload, which orders files of the same moment, and its JSON. */
export const fileIn = `
local function fileIn(entry)
  return cjson.decode(string.match(entry, '^%d+:(.*)$'))
end
`;

/**
 * Moves the blob of a file to the trash, with its owner, because its bytes count until they are removed. Files from
 * versions without quotas have no owner and were never counted.
 */
export const discard = `
local function discard(file, blobs, trash, trashOwners, storedBytes)
  redis.call('SREM', blobs, file.blob)
  redis.call('SADD', trash, file.blob)
  if file.owner == nil then return end
  -- Not -file.size: of an empty file that is -0, which is not a number for Redis.
  redis.call('INCRBY', storedBytes, 0 - file.size)
  if file.owner ~= cjson.null then redis.call('HSET', trashOwners, file.blob, cjson.encode(file.owner)) end
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

/** Deletes the files and moves their blobs to the trash in one step. */
export const dropFiles = `${fileIn}${discard}
local function dropFiles(files, ...)
  for _, entry in ipairs(redis.call('HVALS', files)) do discard(fileIn(entry), ...) end
  redis.call('DEL', files)
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

/** The entries after a version, oldest first; false if the log does not lead from it to the current one. */
export const entriesSince = `
local function entriesSince(edits, versions, since)
  local count = versions.current - since
  if count == 0 then return {} end
  if count < 0 or not versions.isLogged or redis.call('LLEN', edits) < count then return false end
  return redis.call('LRANGE', edits, -count, -1)
end
`;

/** The full text, the current version, its time, and the entries that lead from the full text to it. */
export const fullText = `${textVersions}${entriesSince}
local function fullText(room, edits)
  local versions = textVersions(room)
  local text = redis.call('HMGET', room, 'content', 'version', 'writtenAt')
  text[4] = entriesSince(edits, versions, versions.full)
  return text
end
`;

/** The same with the whole log, which may go further back, and the version of the full text. */
export const textAndLog = `${textVersions}
local function textAndLog(room, edits)
  local versions = textVersions(room)
  local text = redis.call('HMGET', room, 'content', 'version', 'writtenAt')
  text[4] = versions.isLogged and redis.call('LRANGE', edits, 0, -1) or {}
  text[5] = versions.full
  return text
end
`;
