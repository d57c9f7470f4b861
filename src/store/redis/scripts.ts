/**
 * Lua scripts. Each is one atomic step. All its keys are in KEYS and have one hash tag. Times always come from the
 * caller; the expiry of Redis only removes what is no longer needed.
 */
import { script, scriptWhenFull } from '../../redis/script.ts';
import { onceScripts } from './idempotency.ts';
import { absenceOf, dropFiles, endText, fullText, isLive, roomFields } from './lua.ts';

/** KEYS: all rooms by expiry. ARGV: draw, createdAt, expiresAt, then pairs of a length and up to how many rooms. */
const claimCode = script(`
local live = redis.call('ZCOUNT', KEYS[1], '(' .. ARGV[2], '+inf') + 1
for i = 4, #ARGV, 2 do
  if live <= tonumber(ARGV[i + 1]) then
    local code = string.sub(ARGV[1], 1, tonumber(ARGV[i]))
    if redis.call('ZADD', KEYS[1], 'NX', ARGV[3], code) == 0 then return false end
    return code
  end
end
return false
`);

/** With and without the record of the request for a new room. The record has the length of the claimed code. */
export const claimCodeOnce = onceScripts(claimCode, 'reply');

/**
 * A recently expired room keeps its code, so that it is not confused with the new one.
 * KEYS: room, trusted, edits, history, history texts. ARGV: createdAt, expiresAt, pinMac or '', creator, milliseconds to
 * keep, rememberExpiredMs, 1 if it keeps the history of its text, client and network of the owner or '', 0 if the text
 * counts for them or '', name or '', salt or ''.
 */
const createRoom = script(`
local formerly = redis.call('HGET', KEYS[1], 'expiresAt')
if formerly and tonumber(formerly) > tonumber(ARGV[1]) - tonumber(ARGV[6]) then return 0 end
redis.call('DEL', unpack(KEYS))
redis.call('HSET', KEYS[1], 'createdAt', ARGV[1], 'expiresAt', ARGV[2], 'pinMac', ARGV[3], 'seq', 0, 'version', 0,
  'textVersion', 0, 'logVersion', 0, 'writtenAt', ARGV[1], 'content', '', 'keepsHistory', ARGV[7], 'fileCount', 0,
  'fileBytes', 0, 'pinAttempts', 0, 'client', ARGV[8], 'network', ARGV[9],
  'textCharge', ARGV[10])
if ARGV[11] ~= '' then redis.call('HSET', KEYS[1], 'name', ARGV[11]) end
if ARGV[12] ~= '' then redis.call('HSET', KEYS[1], 'salt', ARGV[12]) end
redis.call('PEXPIRE', KEYS[1], ARGV[5])
if ARGV[3] ~= '' and ARGV[12] == '' then
  redis.call('ZADD', KEYS[2], ARGV[1], ARGV[4])
  redis.call('PEXPIRE', KEYS[2], ARGV[5])
end
return 1
`);

/** With and without the record of its request. */
export const createRoomOnce = onceScripts(createRoom, 'reply == 1');

/**
 * Checks access to a room. Counting and checking are one step, so no concurrent attempt is missed. Both hashes of the
 * PIN or key are hashed again with a salt of this call, so that the time of the comparison reveals nothing about them.
 *
 * KEYS: room, guard, trusted, seen, and edits if the text is requested. ARGV: client, pinMac or '', salt, deviceId or
 * '', now, triesBeforeLock, firstLockMs, longestLockMs, wrongPinsPerRoom, windowMs, rememberExpiredMs, deviceSeenMs,
 * devicesPerRoom, wrongPinsPerLife, wrongPinsOfNewNetworks, keyCountersPerRoom, the client's network, keyHash or '', 1
 * if the client has too many misses. Such a client is admitted only with the right key, and otherwise changes nothing.
 * Returns the text if it is requested, and the fields of the room otherwise, and 1 if the room is encrypted.
 *
 * The guard has the wrong PINs of the window and of the room's lifetime, the attempts of each client (client:…), the
 * networks of unknown clients with a wrong PIN (net:…), their attempts in spite of a lock, and wrong PINs of trusted
 * clients. That of an encrypted room has only the attempts of each client: nobody can guess a room key, so wrong ones
 * lock out only the client that sends them, and the right one is always admitted.
 */
export const enterRoom = scriptWhenFull(`${fullText}
local now = tonumber(ARGV[5])
local room = redis.call('HMGET', KEYS[1], 'expiresAt', 'pinMac', 'pinAttempts', 'salt')
if not room[1] then return {'unknown'} end
local expiresAt = tonumber(room[1])
if expiresAt <= now then
  if expiresAt > now - tonumber(ARGV[11]) then return {'expired'} end
  return {'unknown'}
end

-- An encrypted room has a salt, and the verifier of its key instead of a PIN.
local isKey, proof = room[4] and 1 or 0, room[4] and ARGV[18] or ARGV[2]
local isRight = proof ~= '' and redis.sha1hex(room[2] .. ARGV[3]) == redis.sha1hex(proof .. ARGV[3])
if ARGV[19] == '1' and not (room[4] and isRight) then return {'unknown'} end

local function forgetCounters()
  local all = redis.call('HGETALL', KEYS[2])
  for i = 1, #all, 2 do
    if string.sub(all[i], 1, 7) == 'client:' and cjson.decode(all[i + 1]).forgetAt <= now then
      redis.call('HDEL', KEYS[2], all[i])
    end
  end
end

-- Further clients with wrong keys share one counter.
local function keyCounter(own)
  local most = tonumber(ARGV[16])
  if redis.call('HEXISTS', KEYS[2], own) == 1 or redis.call('HLEN', KEYS[2]) < most then return own end
  forgetCounters()
  return redis.call('HLEN', KEYS[2]) < most and own or 'client:*'
end

if room[2] ~= '' then
  if proof == '' then return room[4] and {'key-required', room[4]} or {'pin-required'} end
  local windowMs, keepMs = tonumber(ARGV[10]), expiresAt - now + tonumber(ARGV[10])
  local counter = 'client:' .. ARGV[1]
  if room[4] and not isRight then counter = keyCounter(counter) end
  local guard = redis.call('HMGET', KEYS[2], 'wrong', 'windowEndsAt', counter, 'life', 'ofNewNetworks',
    'net:' .. ARGV[17], 'trusted:' .. ARGV[1])
  local tries = guard[3] and cjson.decode(guard[3]) or {wrong = 0, lockedUntil = 0}
  if tries.forgetAt and tries.forgetAt <= now then tries = {wrong = 0, lockedUntil = 0} end
  if tries.lockedUntil > now and not (room[4] and isRight) then
    return {'locked', string.format('%.0f', tries.lockedUntil), 0, isKey}
  end

  local wrong, windowEndsAt = tonumber(guard[1] or 0), tonumber(guard[2] or 0)
  local life, ofNewNetworks = math.max(tonumber(guard[4] or 0), tonumber(room[3] or 0)), tonumber(guard[5] or 0)
  local isKnown, isTrusted, isShut
  if not room[4] then
    local perLife, forNewNetworks = tonumber(ARGV[14]), tonumber(ARGV[15])
    isKnown = redis.call('ZSCORE', KEYS[3], ARGV[1])
    isTrusted = isKnown and tonumber(guard[7] or 0) < perLife
    local isForLife = life - ofNewNetworks >= perLife - forNewNetworks
    isShut = isForLife or (windowEndsAt > now and wrong >= tonumber(ARGV[9]))
    local hasSpareTry = life < perLife and ofNewNetworks < forNewNetworks and not guard[6]
    if isShut and not isTrusted and not hasSpareTry then
      return {'locked', string.format('%.0f', isForLife and expiresAt or windowEndsAt), isForLife and 1 or 0, isKey}
    end
  end

  if not isRight then
    tries.wrong = tries.wrong + 1
    local locks = tries.wrong - tonumber(ARGV[6])
    if locks >= 0 then
      tries.lockedUntil = now + math.min(tonumber(ARGV[7]) * 2 ^ math.min(locks, 40), tonumber(ARGV[8]))
    end
    tries.forgetAt = math.max(now, tries.lockedUntil) + windowMs
    if redis.call('HLEN', KEYS[2]) > 400 then forgetCounters() end
    redis.call('HSET', KEYS[2], counter, cjson.encode(tries))
    if not room[4] then
      if windowEndsAt <= now then wrong, windowEndsAt = 0, now + windowMs end
      redis.call('HSET', KEYS[2], 'wrong', wrong + 1, 'windowEndsAt', string.format('%.0f', windowEndsAt),
        'life', life + 1)
      if isTrusted then
        redis.call('HINCRBY', KEYS[2], 'trusted:' .. ARGV[1], 1)
      else
        redis.call('HSET', KEYS[2], 'net:' .. ARGV[17], 1)
        if isShut then redis.call('HINCRBY', KEYS[2], 'ofNewNetworks', 1) end
      end
    end
    redis.call('PEXPIRE', KEYS[2], string.format('%.0f', keepMs))
    local left = math.max(0, tonumber(ARGV[6]) - tries.wrong)
    return {'wrong', left, tries.lockedUntil > now and string.format('%.0f', tries.lockedUntil) or '0', isKey}
  end

  if guard[3] then redis.call('HDEL', KEYS[2], counter) end
  if not room[4] and not isKnown then
    redis.call('ZADD', KEYS[3], ARGV[5], ARGV[1])
    redis.call('ZREMRANGEBYRANK', KEYS[3], 0, -1001)
    redis.call('PEXPIRE', KEYS[3], string.format('%.0f', keepMs))
  end
end

if ARGV[4] ~= '' then
  redis.call('ZADD', KEYS[4], ARGV[5], ARGV[4])
  redis.call('ZREMRANGEBYRANK', KEYS[4], 0, -(tonumber(ARGV[13]) + 1))
  redis.call('PEXPIRE', KEYS[4], 2 * tonumber(ARGV[12]))
end
if KEYS[5] then return {'in', fullText(KEYS[1], KEYS[5]), isKey} end
return {'in', redis.call('HMGET', KEYS[1], ${roomFields}), isKey}
`);

/**
 * Counts a miss. A client with too many misses receives that instead of the result, so that concurrent attempts reveal
 * no more than the limit allows.
 *
 * KEYS: misses. ARGV: 1 for a miss, now, limit, windowMs, the limit for cross-site requests or 0 for others, 1 if the
 * counter may be started. Returns whether the client is locked out, until when, and whether the counter was started;
 * false if there is no counter and none may be started.
 */
export const settleLookup = scriptWhenFull(`
local now, limit, share = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[5])
local misses = redis.call('HMGET', KEYS[1], 'count', 'resetAt', 'crossSite')
local count, resetAt, crossSite = tonumber(misses[1] or 0), tonumber(misses[2] or 0), tonumber(misses[3] or 0)
local isNew = resetAt <= now
if isNew and ARGV[6] == '0' then return false end
if isNew then count, crossSite, resetAt = 0, 0, now + tonumber(ARGV[4]) end
local function isShutOut() return count >= limit or (share > 0 and crossSite >= share) end
if isShutOut() then return {1, string.format('%.0f', resetAt), 0} end
if ARGV[1] == '0' then return {0, '0', 0} end
count = count + 1
if share > 0 then crossSite = crossSite + 1 end
redis.call('HSET', KEYS[1], 'count', count, 'resetAt', string.format('%.0f', resetAt), 'crossSite', crossSite)
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return {0, isShutOut() and string.format('%.0f', resetAt) or '0', isNew and 1 or 0}
`);

/**
 * KEYS: room, files, removed files, unfinished files, removals, ends of uploads, blobs, trash, owners of the trash,
 * stored bytes, ended texts, then all other keys of the room. ARGV: now, rememberExpiredMs, code. Returns the seq, 1 if
 * the text counted, and the ids of the files.
 */
export const deleteRoom = scriptWhenFull(`${absenceOf}${dropFiles}${endText}
local absence = absenceOf(KEYS[1], ARGV[1], ARGV[2])
if absence then return absence end
local seq = redis.call('HINCRBY', KEYS[1], 'seq', 1)
local files = dropFiles(ARGV[3], unpack(KEYS, 2, 10))
local hadText = endText(KEYS[1], KEYS[11], ARGV[3])
redis.call('DEL', KEYS[1], unpack(KEYS, 12))
return {seq, hadText, files}
`);

/**
 * Assigns expired rooms to be ended, each to one node. Rooms that a node did not finish are assigned again when its
 * lease ends. KEYS: all rooms by expiry, those being ended. ARGV: now, limit, end of the lease.
 */
export const takeExpired = scriptWhenFull(`
local taken = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', ARGV[1], 'LIMIT', 0, ARGV[2])
local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'WITHSCORES', 'LIMIT', 0, tonumber(ARGV[2]) - #taken)
for i = 1, #due, 2 do
  redis.call('ZREM', KEYS[1], due[i])
  taken[#taken + 1] = due[i] .. ':' .. due[i + 1]
end
for _, member in ipairs(taken) do redis.call('ZADD', KEYS[2], ARGV[3], member) end
return taken
`);

/**
 * Assigns blobs to be removed, each to one node. A claim lasts longer than the removal, because another node may have
 * listed the blob before. KEYS: claims. ARGV: now, end of the lease, its length, the blobs.
 */
export const claimTrash = scriptWhenFull(`
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[1])
local own = {}
for i = 4, #ARGV do
  if redis.call('ZADD', KEYS[1], 'NX', ARGV[2], ARGV[i]) == 1 then own[#own + 1] = ARGV[i] end
end
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return own
`);

/**
 * Deletes an expired room except for a record that it existed. A missing room was deleted while the list of all rooms
 * was unreachable. KEYS as for deleteRoom. ARGV: now, rememberMs, code. Returns the expiry of a room that has not
 * expired, because it was extended; otherwise the ids of its files.
 */
export const expireRoom = scriptWhenFull(`${isLive}${dropFiles}${endText}
local expiresAt = redis.call('HGET', KEYS[1], 'expiresAt')
if isLive(KEYS[1], ARGV[1]) then return expiresAt end
local files = dropFiles(ARGV[3], unpack(KEYS, 2, 10))
endText(KEYS[1], KEYS[11], ARGV[3])
redis.call('DEL', KEYS[1], unpack(KEYS, 12))
local rest = expiresAt and tonumber(expiresAt) + tonumber(ARGV[2]) - tonumber(ARGV[1]) or 0
if rest > 0 then
  redis.call('HSET', KEYS[1], 'expiresAt', expiresAt)
  redis.call('PEXPIRE', KEYS[1], string.format('%.0f', rest))
end
return files
`);

/**
 * KEYS: room, files, edits. ARGV: now, rememberExpiredMs, the version of the reader's text or '', when it was written.
 * Returns the entries since then, or the whole text if the log does not lead from there, or there are too many.
 */
export const readState = script(`${absenceOf}${fullText}
local absence = absenceOf(KEYS[1], ARGV[1], ARGV[2])
if absence then return absence end
local room = redis.call('HMGET', KEYS[1], ${roomFields}, 'seq', 'pinAttempts', 'version', 'writtenAt')
local files = redis.call('HVALS', KEYS[2])

local known, versions, entries = tonumber(ARGV[3]), textVersions(KEYS[1]), false
if known == versions.current then
  entries = room[11] == ARGV[4] and {}
elseif known and known < versions.current and versions.current - known <= 1000 then
  -- The entry of the known version shows whether it is the same text. A log that starts after it does not have it.
  entries = entriesSince(KEYS[3], versions, known - 1)
  if not entries then entries = entriesSince(KEYS[3], versions, known)
  elseif string.match(table.remove(entries, 1), '"writtenAt":(%d+)}$') ~= ARGV[4] then entries = false end
end
return {room, files, entries or false, not entries and fullText(KEYS[1], KEYS[3])}
`);

/** KEYS: room. ARGV: now. */
export const notePinAttempt = scriptWhenFull(`${isLive}
if not isLive(KEYS[1], ARGV[1]) then return false end
redis.call('HINCRBY', KEYS[1], 'pinAttempts', 1)
return redis.call('HINCRBY', KEYS[1], 'seq', 1)
`);

/**
 * KEYS: spending. ARGV: 1 to take, now, limit, windowMs, 1 if the counter may be started. Returns whether it is granted,
 * the used requests, the reset time, and whether the counter was started; false if there is no counter and none may be
 * started.
 */
export const spendRequest = scriptWhenFull(`
local now, limit = tonumber(ARGV[2]), tonumber(ARGV[3])
local spending = redis.call('HMGET', KEYS[1], 'used', 'resetAt')
local used, resetAt = tonumber(spending[1] or 0), tonumber(spending[2] or 0)
local isNew = resetAt <= now
if isNew and ARGV[5] == '0' then return false end
if isNew then used, resetAt = 0, now + tonumber(ARGV[4]) end
local granted = used < limit
if ARGV[1] == '1' and granted then
  used = used + 1
  redis.call('HSET', KEYS[1], 'used', used, 'resetAt', string.format('%.0f', resetAt))
  redis.call('PEXPIRE', KEYS[1], ARGV[4])
end
return {granted and 1 or 0, used, string.format('%.0f', resetAt), isNew and used > 0 and 1 or 0}
`);

/** KEYS: keys by id, active keys by hash, active ids by name. ARGV: id, hash, name, json. */
export const createKey = script(`
if redis.call('HEXISTS', KEYS[3], ARGV[3]) == 1 then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[4])
redis.call('HSET', KEYS[2], ARGV[2], ARGV[4])
redis.call('HSET', KEYS[3], ARGV[3], ARGV[1])
return 1
`);

/** KEYS as for createKey. ARGV: id or name, now. */
export const revokeKey = scriptWhenFull(`
local id = ARGV[1]
local json = redis.call('HGET', KEYS[1], id)
local key = json and cjson.decode(json)
if not key or key.revokedAt then
  id = redis.call('HGET', KEYS[3], ARGV[1])
  if not id then return false end
  key = cjson.decode(redis.call('HGET', KEYS[1], id))
end
key.revokedAt = tonumber(ARGV[2])
local revoked = cjson.encode(key)
redis.call('HSET', KEYS[1], id, revoked)
redis.call('HDEL', KEYS[2], key.hash)
redis.call('HDEL', KEYS[3], key.name)
return revoked
`);
