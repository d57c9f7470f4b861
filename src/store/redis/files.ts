/** The files of a room, and claims of one-time files. The index by file id is on other nodes of a cluster. */
import { randomBytes } from 'node:crypto';
import type { MissingReason } from '../../core/ports/basics.ts';
import { unfinishedName } from '../../core/ports/blobs.ts';
import type { FileStore, StoredFile } from '../../core/ports/files.ts';
import type { GuardRules } from '../../core/ports/rooms.ts';
import type { RoomCode } from '../../core/room-code.ts';
import type { Redis } from '../../redis/connection.ts';
import { type Script, script, scriptWhenFull } from '../../redis/script.ts';
import { createRunOnce, onceScripts, repeatedIn } from './idempotency.ts';
import { dropIndexes, isLive, type Keys, netMs, returnIfMissing } from './keys.ts';
import type { RedisStorage } from './quota.ts';

type Files = Pick<
  FileStore,
  'addFile' | 'listFiles' | 'findFile' | 'removeFile' | 'restoreFile' | 'eraseRemoved' | 'eraseRemovedIn'
>;

export function createFiles(redis: Redis, keys: Keys, rules: GuardRules, storage: RedisStorage): Files {
  const runOnce = createRunOnce(redis, keys);
  const keysToErase = (code: RoomCode) => {
    const { room, removed, removals, blobs, trash, trashOwners, storedBytes } = keys.ofRoom(code);
    return [room, removed, removals, blobs, trash, trashOwners, storedBytes];
  };

  /** Removes a file from the list, or restores it. */
  async function move(script: Script, code: RoomCode, fileId: string, now: number) {
    const { room, files, removed, removals } = keys.ofRoom(code);
    const args = [now, rules.rememberExpiredMs, fileId, dueMember(code, fileId)];
    const reply = await redis.run(script, [room, files, removed, removals], args);
    return typeof reply === 'string' ? (reply as 'no-file' | MissingReason) : { seq: Number(reply) };
  }

  async function erase({ code, fileId }: DueFile, moment: number): Promise<boolean> {
    const args = [moment, fileId, dueMember(code, fileId)];
    const isErased = (await redis.run(eraseFileScript, keysToErase(code), args)) === 1;
    if (isErased) await dropIndexes(redis, [keys.roomOfFile(fileId)]);
    return isErased;
  }

  return {
    async addFile(code, file, { files: maxFiles, bytes: maxBytes }, record) {
      const { room, files, blobs, storedBytes, links } = keys.ofRoom(code);
      const index = keys.roomOfFile(file.id);
      const entry = [file.id, file.blob, file.size, fileJson(file)];
      const args = [file.uploadedAt, rules.rememberExpiredMs, ...entry, maxFiles, maxBytes, file.link ?? ''];
      const reply = await storage.addCharged(code, file, async () => {
        // The index first, so that a listed file can be downloaded.
        await redis.send(index, ['SET', index, code, 'PX', String(netMs)]);
        const request = { record, room: code, now: file.uploadedAt };
        return runOnce(addFileOnce, [room, files, blobs, storedBytes, links], args, request);
      });
      if (typeof reply === 'string') {
        await redis.send(index, ['DEL', index]);
        const repeated = repeatedIn(reply);
        if (repeated) return { repeated };
        return reply as MissingReason | 'full' | 'no-link';
      }
      const [seq, expiresAt] = reply as [number, string];
      await keepIndex(redis, index, Number(expiresAt) - file.uploadedAt + netMs);
      return { seq };
    },

    async listFiles(code, now) {
      const { room, files } = keys.ofRoom(code);
      const reply = await redis.run(listFilesScript, [room, files], [now, rules.rememberExpiredMs]);
      return typeof reply === 'string' ? (reply as MissingReason) : filesOf(reply as string[]);
    },

    async findFile(fileId, now) {
      const code = await roomOfFile(redis, keys, fileId);
      if (code === null) return undefined;
      const { room, files } = keys.ofRoom(code);
      const entry = await redis.run(findFileScript, [room, files], [now, fileId]);
      return entry === null ? undefined : fileOf(String(entry));
    },

    removeFile: (code, fileId, now) => move(removeFileScript, code, fileId, now),
    restoreFile: (code, fileId, now) => move(restoreFileScript, code, fileId, now),

    async eraseRemoved(moment, limit) {
      const due = await dueFiles(redis, keys, 'removals', `(${moment}`, limit);
      const erased = await Promise.all(due.map((file) => erase(file, moment)));
      return erased.filter(Boolean).length;
    },

    async eraseRemovedIn(code) {
      const erased = (await redis.run(eraseFilesOfRoomScript, keysToErase(code), [code])) as string[];
      await dropIndexes(redis, erased.map(keys.roomOfFile));
      return erased.length;
    },
  };
}

async function roomOfFile(redis: Redis, keys: Keys, fileId: string): Promise<RoomCode | null> {
  const index = keys.roomOfFile(fileId);
  return (await redis.send(index, ['GET', index])) as RoomCode | null;
}

/** Oldest first; files of the same moment in order of arrival. */
export function filesOf(entries: string[]): StoredFile[] {
  const files = entries.map((entry) => ({ seq: Number.parseInt(entry, 10), file: fileOf(entry) }));
  files.sort((a, b) => a.file.uploadedAt - b.file.uploadedAt || a.seq - b.seq);
  return files.map(({ file }) => file);
}

/** Only one-time files have `once`. With an owner of null the file counts. Files from versions without quotas have no owner field. */
export function fileJson(file: StoredFile): string {
  const { id, blob, name, type, size, uploadedAt, owner = null, folder, deviceId, once, meta, link } = file;
  const optional = { deviceId, once: once || undefined, meta, link };
  return JSON.stringify({ id, blob, name, type, size, uploadedAt, owner, folder, ...optional });
}

/** Files of earlier versions have no folder and no device. */
export function parseFile(json: string): StoredFile {
  const { owner: stored, folder = '', deviceId, once = false, ...file } = JSON.parse(json) as StoredFile;
  const owner = stored ? { client: stored.client, network: stored.network } : undefined;
  return { ...file, owner, folder, deviceId, once };
}

export const fileOf = (entry: string): StoredFile => parseFile(entry.slice(entry.indexOf(':') + 1));

/** Keeps an entry of an index at least this long. It is never shortened, because the room may be extended at the same time. */
export async function keepIndex(redis: Redis, index: string, ms: number): Promise<void> {
  await redis.run(keepIndexScript, [index], [ms]);
}

/** A file that a sweep has to drop: a removed one by time, or an unfinished one by expiry. */
export type DueFile = { code: RoomCode; fileId: string };

/** Neither contains a space. */
export const dueMember = (code: RoomCode, fileId: string): string => `${code} ${fileId}`;

/** Up to `limit` files of a sorted set of each shard with a score up to `max`. */
export async function dueFiles(
  redis: Redis,
  { shards }: Keys,
  set: 'removals' | 'uploadEnds',
  max: string,
  limit: number,
): Promise<DueFile[]> {
  const dueIn = (key: string) => redis.send(key, ['ZRANGEBYSCORE', key, '-inf', max, 'LIMIT', '0', String(limit)]);
  const members = (await Promise.all(shards.map((shard) => dueIn(shard[set])))) as string[][];
  const due = members.flat().slice(0, limit);
  return due.map((member) => member.split(' ') as [RoomCode, string]).map(([code, fileId]) => ({ code, fileId }));
}

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

/** KEYS: any. ARGV: milliseconds. */
const keepIndexScript = script(`
local left = redis.call('PTTL', KEYS[1])
if left >= 0 and left < tonumber(ARGV[1]) then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
`);

/** Whether a file may be added: it was uploaded by a member, or with a link that is still valid. */
export const mayAdd = `
local function mayAdd(links, link, now)
  if link == '' then return true end
  local json = redis.call('HGET', links, link)
  local expiresAt = json and cjson.decode(json).expiresAt
  return json and (not expiresAt or expiresAt > tonumber(now))
end
`;

/**
 * KEYS: room, files, blobs, stored bytes, links. ARGV: now, rememberExpiredMs, id, blob, size, json, max files, max
 * bytes, link or ''.
 */
const addFileScript = script(`${returnIfMissing}${countFile}${mayAdd}
if not mayAdd(KEYS[5], ARGV[9], ARGV[1]) then return 'no-link' end
if not countFile(KEYS[1], KEYS[4], ARGV[5], ARGV[7], ARGV[8]) then return 'full' end
local seq = redis.call('HINCRBY', KEYS[1], 'seq', 1)
redis.call('HSET', KEYS[2], ARGV[3], seq .. ':' .. ARGV[6])
redis.call('SADD', KEYS[3], ARGV[4])
return {seq, redis.call('HGET', KEYS[1], 'expiresAt')}
`);

/** With and without the record of its request. */
const addFileOnce = onceScripts(addFileScript, "type(reply) == 'table'");

/** KEYS: room, files, removed files, removals. ARGV: now, rememberExpiredMs, id, member of the removals. */
const removeFileScript = scriptWhenFull(`${returnIfMissing}
local entry = redis.call('HGET', KEYS[2], ARGV[3])
if not entry then return 'no-file' end
redis.call('HDEL', KEYS[2], ARGV[3])
redis.call('HSET', KEYS[3], ARGV[3], entry)
redis.call('ZADD', KEYS[4], ARGV[1], ARGV[4])
return redis.call('HINCRBY', KEYS[1], 'seq', 1)
`);

/** KEYS and ARGV as for removeFile. */
const restoreFileScript = script(`${returnIfMissing}
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
const eraseFileScript = scriptWhenFull(`${dropFile}
local removedAt = redis.call('ZSCORE', KEYS[3], ARGV[3])
if not removedAt or tonumber(removedAt) >= tonumber(ARGV[1]) then return 0 end
return dropFile(KEYS[1], KEYS[2], KEYS[3], ARGV[2], ARGV[3], '', unpack(KEYS, 4, 7))
`);

/** KEYS as for eraseFile. ARGV: code. Returns the ids of the erased files. */
const eraseFilesOfRoomScript = scriptWhenFull(`${dropFile}
local ids = redis.call('HKEYS', KEYS[2])
for _, id in ipairs(ids) do
  dropFile(KEYS[1], KEYS[2], KEYS[3], id, ARGV[1] .. ' ' .. id, '', unpack(KEYS, 4, 7))
end
return ids
`);

/** KEYS: room, files. ARGV: now, rememberExpiredMs. */
const listFilesScript = script(`${returnIfMissing}
return redis.call('HVALS', KEYS[2])
`);

/** KEYS: room, files. ARGV: now, id. */
const findFileScript = script(`${isLive}
if not isLive(KEYS[1], ARGV[1]) then return false end
return redis.call('HGET', KEYS[2], ARGV[2])
`);

type Claims = Pick<FileStore, 'claimFile' | 'findClaim' | 'receiveFile' | 'releaseClaim'>;

/** Claims of one-time files. */
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
      const code = await roomOfFile(redis, keys, fileId);
      if (code === null) return undefined;
      const { room, files, claims } = keys.ofRoom(code);
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
      await dropIndexes(redis, [keys.roomOfFile(fileId)]);
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
