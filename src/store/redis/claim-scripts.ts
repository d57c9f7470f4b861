/** Scripts of claims. See scripts.ts for what applies to all scripts. */
import { script, scriptWhenFull } from '../../redis/script.ts';
import { absenceOf, dropFile, fileIn, isLive } from './lua.ts';

/** A claim is stored as the hash of its token and its expiry. */
const parseClaim = `
local function parseClaim(claim)
  local hash, expiresAt = string.match(claim, '^(%x+) (%d+)$')
  return hash, tonumber(expiresAt)
end
`;

/**
 * The id of the file with a claim. Both hashes are hashed again with a salt of this call, so that the time of the
 * comparison reveals nothing about them.
 */
const claimedFile = `${parseClaim}
local function claimedFile(claims, hash, salt)
  local entries, wanted, found = redis.call('HGETALL', claims), redis.sha1hex(hash .. salt), nil
  for i = 1, #entries, 2 do
    if redis.sha1hex(parseClaim(entries[i + 1]) .. salt) == wanted then found = entries[i] end
  end
  return found
end
`;

/**
 * Drops the claims of files that no longer exist, so that there are at most as many claims as files.
 * KEYS: room, files, removed files, claims. ARGV: now, rememberExpiredMs, id, hash, expiresAt, milliseconds to keep.
 * Returns the entry of the file, or the expiry of an open claim as a number.
 */
export const claimFile = scriptWhenFull(`${absenceOf}${fileIn}${parseClaim}
local absence = absenceOf(KEYS[1], ARGV[1], ARGV[2])
if absence then return {absence} end
local entry = redis.call('HGET', KEYS[2], ARGV[3])
if not entry then return {'no-file'} end
if not fileIn(entry).once then return {'not-once'} end
local last = redis.call('HGET', KEYS[4], ARGV[3])
if last then
  local _, expiresAt = parseClaim(last)
  if expiresAt > tonumber(ARGV[1]) then return {'claimed-until', string.format('%.0f', expiresAt)} end
end
for _, id in ipairs(redis.call('HKEYS', KEYS[4])) do
  local exists = redis.call('HEXISTS', KEYS[2], id) + redis.call('HEXISTS', KEYS[3], id)
  if exists == 0 then redis.call('HDEL', KEYS[4], id) end
end
redis.call('HSET', KEYS[4], ARGV[3], ARGV[4] .. ' ' .. ARGV[5])
redis.call('PEXPIRE', KEYS[4], ARGV[6])
return {'claimed', entry}
`);

/** KEYS: room, files, claims. ARGV: now, id. Returns the hash and the expiry of an open claim. */
export const findClaim = script(`${isLive}${parseClaim}
if not isLive(KEYS[1], ARGV[1]) or redis.call('HEXISTS', KEYS[2], ARGV[2]) == 0 then return false end
local claim = redis.call('HGET', KEYS[3], ARGV[2])
if not claim then return false end
local hash, expiresAt = parseClaim(claim)
return expiresAt > tonumber(ARGV[1]) and {hash, string.format('%.0f', expiresAt)}
`);

/**
 * Erases a claimed file, which is listed or removed. KEYS: room, files, removed files, removals, claims, blobs, trash,
 * owners of the trash, stored bytes. ARGV: now, rememberExpiredMs, hash, salt, code. Returns the seq and the id.
 */
export const receiveFile = scriptWhenFull(`${absenceOf}${claimedFile}${dropFile}
local absence = absenceOf(KEYS[1], ARGV[1], ARGV[2])
if absence then return absence end
local id = claimedFile(KEYS[5], ARGV[3], ARGV[4])
if not id then return 'no-claim' end
redis.call('HDEL', KEYS[5], id)
local function drop(list)
  return dropFile(KEYS[1], list, KEYS[4], id, ARGV[5] .. ' ' .. id, '', unpack(KEYS, 6, 9)) == 1
end
if not drop(KEYS[2]) and not drop(KEYS[3]) then return 'no-claim' end
return {redis.call('HINCRBY', KEYS[1], 'seq', 1), id}
`);

/** KEYS: room, claims. ARGV: now, rememberExpiredMs, hash, salt. */
export const releaseClaim = scriptWhenFull(`${absenceOf}${claimedFile}
local absence = absenceOf(KEYS[1], ARGV[1], ARGV[2])
if absence then return absence end
local id = claimedFile(KEYS[2], ARGV[3], ARGV[4])
if not id then return 'no-claim' end
redis.call('HDEL', KEYS[2], id)
return 'released'
`);
