/** What several scripts share: functions of Lua, put before the script that calls them. */

/** Whether a room is there and not past its time. */
export const isLive = `
local function isLive(room, now)
  local expiresAt = redis.call('HGET', room, 'expiresAt')
  return expiresAt and tonumber(expiresAt) > tonumber(now)
end
`;

/** Why there is no such room, as core's ports say it; nil where it is there. */
export const absenceOf = `
local function absenceOf(room, now, rememberMs)
  local expiresAt = tonumber(redis.call('HGET', room, 'expiresAt') or 0)
  if expiresAt > tonumber(now) then return nil end
  return expiresAt > tonumber(now) - tonumber(rememberMs) and 'expired' or 'gone'
end
`;

/** A file's entry is the seq of its arrival, which keeps those of one moment in order, and its JSON. */
export const fileIn = `
local function fileIn(entry)
  return cjson.decode(string.match(entry, '^%d+:(.*)$'))
end
`;

/** Files' blobs go to the trash in the same step in which the files go. */
export const dropFiles = `${fileIn}
local function dropFiles(files, blobs, trash)
  for _, entry in ipairs(redis.call('HVALS', files)) do
    local blob = fileIn(entry).blob
    redis.call('SREM', blobs, blob)
    redis.call('SADD', trash, blob)
  end
  redis.call('DEL', files)
end
`;
