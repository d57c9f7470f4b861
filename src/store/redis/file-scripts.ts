/** Scripts of files. See scripts.ts for what applies to all scripts. */
import { script } from '../../redis/script.ts';
import { absenceOf, discard, fileIn, isLive } from './lua.ts';

/** KEYS: room, files, blobs, stored bytes. ARGV: now, rememberExpiredMs, id, blob, size, json, max files, max bytes. */
export const addFile = script(`${absenceOf}
local absence = absenceOf(KEYS[1], ARGV[1], ARGV[2])
if absence then return absence end
local room = redis.call('HMGET', KEYS[1], 'fileCount', 'fileBytes', 'expiresAt')
if tonumber(room[1]) >= tonumber(ARGV[7]) or tonumber(room[2]) + tonumber(ARGV[5]) > tonumber(ARGV[8]) then
  return 'full'
end
redis.call('HINCRBY', KEYS[1], 'fileCount', 1)
redis.call('HINCRBY', KEYS[1], 'fileBytes', ARGV[5])
local seq = redis.call('HINCRBY', KEYS[1], 'seq', 1)
redis.call('HSET', KEYS[2], ARGV[3], seq .. ':' .. ARGV[6])
redis.call('SADD', KEYS[3], ARGV[4])
redis.call('INCRBY', KEYS[4], ARGV[5])
return {seq, room[3]}
`);

/** KEYS: room, files, blobs, trash, owners of the trash, stored bytes. ARGV: now, rememberExpiredMs, id. */
export const removeFile = script(`${absenceOf}${fileIn}${discard}
local absence = absenceOf(KEYS[1], ARGV[1], ARGV[2])
if absence then return absence end
local entry = redis.call('HGET', KEYS[2], ARGV[3])
if not entry then return 'no-file' end
local file = fileIn(entry)
redis.call('HDEL', KEYS[2], ARGV[3])
discard(file, unpack(KEYS, 3, 6))
redis.call('HINCRBY', KEYS[1], 'fileCount', -1)
redis.call('HINCRBY', KEYS[1], 'fileBytes', 0 - file.size)
return redis.call('HINCRBY', KEYS[1], 'seq', 1)
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
