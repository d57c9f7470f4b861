/** Scripts of files. See scripts.ts for what applies to all scripts. */
import { script, scriptWhenFull } from '../../redis/script.ts';
import { onceScripts } from './idempotency.ts';
import { absenceOf, countFile, dropFile, isLive } from './lua.ts';

/** KEYS: room, files, blobs, stored bytes. ARGV: now, rememberExpiredMs, id, blob, size, json, max files, max bytes. */
const addFile = script(`${absenceOf}${countFile}
local absence = absenceOf(KEYS[1], ARGV[1], ARGV[2])
if absence then return absence end
if not countFile(KEYS[1], KEYS[4], ARGV[5], ARGV[7], ARGV[8]) then return 'full' end
local seq = redis.call('HINCRBY', KEYS[1], 'seq', 1)
redis.call('HSET', KEYS[2], ARGV[3], seq .. ':' .. ARGV[6])
redis.call('SADD', KEYS[3], ARGV[4])
return {seq, redis.call('HGET', KEYS[1], 'expiresAt')}
`);

/** With and without the record of its request. */
export const addFileOnce = onceScripts(addFile, "type(reply) == 'table'");

/** KEYS: room, files, removed files, removals. ARGV: now, rememberExpiredMs, id, member of the removals. */
export const removeFile = scriptWhenFull(`${absenceOf}
local absence = absenceOf(KEYS[1], ARGV[1], ARGV[2])
if absence then return absence end
local entry = redis.call('HGET', KEYS[2], ARGV[3])
if not entry then return 'no-file' end
redis.call('HDEL', KEYS[2], ARGV[3])
redis.call('HSET', KEYS[3], ARGV[3], entry)
redis.call('ZADD', KEYS[4], ARGV[1], ARGV[4])
return redis.call('HINCRBY', KEYS[1], 'seq', 1)
`);

/** KEYS and ARGV as for removeFile. */
export const restoreFile = script(`${absenceOf}
local absence = absenceOf(KEYS[1], ARGV[1], ARGV[2])
if absence then return absence end
local entry = redis.call('HGET', KEYS[3], ARGV[3])
if not entry then return 'no-file' end
redis.call('HDEL', KEYS[3], ARGV[3])
redis.call('HSET', KEYS[2], ARGV[3], entry)
redis.call('ZREM', KEYS[4], ARGV[4])
return redis.call('HINCRBY', KEYS[1], 'seq', 1)
`);

/**
 * Erases a file that was removed before a moment. It may have been restored, and removed again, since it was found due.
 * KEYS: room, removed files, removals, blobs, trash, owners of the trash, stored bytes. ARGV: moment, id, member of the
 * removals. Returns whether it was erased.
 */
export const eraseFile = scriptWhenFull(`${dropFile}
local removedAt = redis.call('ZSCORE', KEYS[3], ARGV[3])
if not removedAt or tonumber(removedAt) >= tonumber(ARGV[1]) then return 0 end
return dropFile(KEYS[1], KEYS[2], KEYS[3], ARGV[2], ARGV[3], '', unpack(KEYS, 4, 7))
`);

/** KEYS as for eraseFile. ARGV: code. Returns the ids of the erased files. */
export const eraseFilesOfRoom = scriptWhenFull(`${dropFile}
local ids = redis.call('HKEYS', KEYS[2])
for _, id in ipairs(ids) do
  dropFile(KEYS[1], KEYS[2], KEYS[3], id, ARGV[1] .. ' ' .. id, '', unpack(KEYS, 4, 7))
end
return ids
`);

/** KEYS: room, files. ARGV: now, rememberExpiredMs. */
export const listFiles = script(`${absenceOf}
local absence = absenceOf(KEYS[1], ARGV[1], ARGV[2])
if absence then return absence end
return redis.call('HVALS', KEYS[2])
`);

/** KEYS: room, files. ARGV: now, id. */
export const findFile = script(`${isLive}
if not isLive(KEYS[1], ARGV[1]) then return false end
return redis.call('HGET', KEYS[2], ARGV[2])
`);
