/** Scripts of unfinished files. See scripts.ts for what applies to all scripts. */
import { unfinishedName } from '../../core/ports.ts';
import { script, scriptWhenFull } from '../../redis/script.ts';
import { absenceOf, countFile, dropFile } from './lua.ts';

/** The received bytes and the JSON of an unfinished file; nil if there is none, or it has expired. */
const uploadIn = `
local function uploadIn(uploads, ends, id, member, now)
  local endsAt = redis.call('ZSCORE', ends, member)
  if not endsAt or tonumber(endsAt) <= tonumber(now) then return nil end
  local entry = redis.call('HGET', uploads, id)
  if not entry then return nil end
  return string.match(entry, '^(%d+):(.*)$')
end
`;

/** The bytes of an unfinished file go to the trash under another name than those of a finished one. */
const dropUpload = `${dropFile}
local function dropUpload(room, uploads, states, ends, id, member, ...)
  redis.call('HDEL', states, id)
  return dropFile(room, uploads, ends, id, member, '${unfinishedName('')}', ...)
end
`;

/**
 * KEYS: room, unfinished files, their states, ends of uploads, blobs, stored bytes. ARGV: now, rememberExpiredMs, id,
 * member of the ends, size, entry, max files, max bytes, state, expiresAt, blob, its unfinished name.
 */
export const startUpload = script(`${absenceOf}${countFile}
local absence = absenceOf(KEYS[1], ARGV[1], ARGV[2])
if absence then return absence end
if not countFile(KEYS[1], KEYS[6], ARGV[5], ARGV[7], ARGV[8]) then return 'full' end
redis.call('HSET', KEYS[2], ARGV[3], ARGV[6])
redis.call('HSET', KEYS[3], ARGV[3], ARGV[9])
redis.call('ZADD', KEYS[4], ARGV[10], ARGV[4])
redis.call('SADD', KEYS[5], ARGV[11], ARGV[12])
return 1
`);

/**
 * KEYS: room, unfinished files, their states, ends of uploads. ARGV: now, rememberExpiredMs, id, member of the ends.
 * Returns the received bytes, the json, the state, when the upload expires, and when the room expires.
 */
export const findUpload = script(`${absenceOf}${uploadIn}
local absence = absenceOf(KEYS[1], ARGV[1], ARGV[2])
if absence then return absence end
local received, json = uploadIn(KEYS[2], KEYS[4], ARGV[3], ARGV[4], ARGV[1])
if not received then return 'no-file' end
return {received, json, redis.call('HGET', KEYS[3], ARGV[3]), redis.call('ZSCORE', KEYS[4], ARGV[4]),
  redis.call('HGET', KEYS[1], 'expiresAt')}
`);

/** KEYS as for findUpload. ARGV as for findUpload, then the received bytes before, those after, and the state. */
export const advanceUpload = script(`${absenceOf}${uploadIn}
local absence = absenceOf(KEYS[1], ARGV[1], ARGV[2])
if absence then return absence end
local received, json = uploadIn(KEYS[2], KEYS[4], ARGV[3], ARGV[4], ARGV[1])
if not received then return 'no-file' end
if received ~= ARGV[5] then return 'stale' end
redis.call('HSET', KEYS[2], ARGV[3], ARGV[6] .. ':' .. json)
redis.call('HSET', KEYS[3], ARGV[3], ARGV[7])
return 'advanced'
`);

/**
 * KEYS: room, unfinished files, their states, ends of uploads, files, blobs. ARGV as for findUpload, then the size, the
 * json of the finished file, and the unfinished name of its blob. Returns the seq and the expiry of the room.
 */
export const finishUpload = script(`${absenceOf}${uploadIn}
local absence = absenceOf(KEYS[1], ARGV[1], ARGV[2])
if absence then return absence end
local received = uploadIn(KEYS[2], KEYS[4], ARGV[3], ARGV[4], ARGV[1])
if received ~= ARGV[5] then return 'no-file' end
redis.call('HDEL', KEYS[2], ARGV[3])
redis.call('HDEL', KEYS[3], ARGV[3])
redis.call('ZREM', KEYS[4], ARGV[4])
local seq = redis.call('HINCRBY', KEYS[1], 'seq', 1)
redis.call('HSET', KEYS[5], ARGV[3], seq .. ':' .. ARGV[6])
redis.call('SREM', KEYS[6], ARGV[7])
return {seq, redis.call('HGET', KEYS[1], 'expiresAt')}
`);

/**
 * KEYS: room, unfinished files, their states, ends of uploads, blobs, trash, owners of the trash, stored bytes. ARGV as
 * for findUpload.
 */
export const cancelUpload = scriptWhenFull(`${absenceOf}${uploadIn}${dropUpload}
local absence = absenceOf(KEYS[1], ARGV[1], ARGV[2])
if absence then return absence end
if not uploadIn(KEYS[2], KEYS[4], ARGV[3], ARGV[4], ARGV[1]) then return 'no-file' end
dropUpload(KEYS[1], KEYS[2], KEYS[3], KEYS[4], ARGV[3], ARGV[4], unpack(KEYS, 5, 8))
return 'cancelled'
`);

/** KEYS as for cancelUpload. ARGV: now, id, member of the ends. Returns whether it was dropped. */
export const expireUpload = scriptWhenFull(`${dropUpload}
local endsAt = redis.call('ZSCORE', KEYS[4], ARGV[3])
if not endsAt or tonumber(endsAt) > tonumber(ARGV[1]) then return 0 end
return dropUpload(KEYS[1], KEYS[2], KEYS[3], KEYS[4], ARGV[2], ARGV[3], unpack(KEYS, 5, 8))
`);
