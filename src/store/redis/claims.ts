/** Claims of one-time files. */
import { randomBytes } from 'node:crypto';
import type { MissingReason } from '../../core/ports/basics.ts';
import type { FileStore } from '../../core/ports/files.ts';
import type { GuardRules } from '../../core/ports/rooms.ts';
import type { RoomCode } from '../../core/room-code.ts';
import type { Redis } from '../../redis/connection.ts';
import { script, scriptWhenFull } from '../../redis/script.ts';
import { dropFile, fileIn, fileOf } from './files.ts';
import { clearUp, isLive, type Keys, netMs, returnIfMissing } from './keys.ts';

type Claims = Pick<FileStore, 'claimFile' | 'findClaim' | 'receiveFile' | 'releaseClaim'>;

export function createClaims(redis: Redis, keys: Keys, { rememberExpiredMs }: GuardRules): Claims {
  const newSalt = () => randomBytes(8).toString('hex');

  return {
    async claimFile(code, fileId, { hash, expiresAt }, now) {
      const { room, files, removed, claims } = keys.ofRoom(code);
      const args = [now, rememberExpiredMs, fileId, hash, expiresAt, expiresAt - now + netMs];
      const reply = await redis.run(claimFileScript, [room, files, removed, claims], args);
      if (typeof reply === 'string') return reply as MissingReason;
      const [outcome, value = ''] = reply as [string, string?];
      if (outcome === 'claimed') return { claimed: fileOf(value) };
      if (outcome === 'claimed-until') return { claimedUntil: Number(value) };
      return outcome as 'not-once' | 'no-file';
    },

    async findClaim(fileId, now) {
      const index = keys.roomOfFile(fileId);
      const code = await redis.send(index, ['GET', index]);
      if (code === null) return undefined;
      const { room, files, claims } = keys.ofRoom(code as RoomCode);
      const reply = await redis.run(findClaimScript, [room, files, claims], [now, fileId]);
      if (reply === null) return undefined;
      const [hash, expiresAt] = reply as [string, string];
      return { hash, expiresAt: Number(expiresAt) };
    },

    async receiveFile(code, claimHash, now) {
      const { room, files, removed, removals, claims, blobs, trash, trashOwners, storedBytes } = keys.ofRoom(code);
      const touched = [room, files, removed, removals, claims, blobs, trash, trashOwners, storedBytes];
      const args = [now, rememberExpiredMs, claimHash, newSalt(), code];
      const reply = await redis.run(receiveFileScript, touched, args);
      if (typeof reply === 'string') return reply as 'no-claim' | MissingReason;
      const [seq, fileId] = reply as [number, string];
      const index = keys.roomOfFile(fileId);
      await clearUp(redis, index, ['DEL', index]);
      return { seq, fileId };
    },

    async releaseClaim(code, claimHash, now) {
      const { room, claims } = keys.ofRoom(code);
      const args = [now, rememberExpiredMs, claimHash, newSalt()];
      const reply = await redis.run(releaseClaimScript, [room, claims], args);
      return reply as 'released' | 'no-claim' | MissingReason;
    },
  };
}

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
const claimFileScript = scriptWhenFull(`${returnIfMissing}${fileIn}${parseClaim}
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
const findClaimScript = script(`${isLive}${parseClaim}
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
const receiveFileScript = scriptWhenFull(`${returnIfMissing}${claimedFile}${dropFile}
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
const releaseClaimScript = scriptWhenFull(`${returnIfMissing}${claimedFile}
local id = claimedFile(KEYS[2], ARGV[3], ARGV[4])
if not id then return 'no-claim' end
redis.call('HDEL', KEYS[2], id)
return 'released'
`);
