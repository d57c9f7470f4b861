/** The files of a room, and claims of one-time files. The index by file id is on other nodes of a cluster. */
import { randomBytes } from 'node:crypto';
import type { MissingReason } from '../../core/ports/basics.ts';
import { type FileStore, type StoredFile, unfinishedName } from '../../core/ports/files.ts';
import type { GuardRules } from '../../core/ports/rooms.ts';
import type { RoomCode } from '../../core/room-code.ts';
import type { Redis } from '../../redis/connection.ts';
import { script } from '../../redis/script.ts';
import { createRunOnce, onceScripts, repeatedIn } from './idempotency.ts';
import { createRunner, dropIndexes, inLiveRoom, isLive, type Keys, keysFor, netMs, onKeys } from './keys.ts';
import type { RedisStorage } from './quota.ts';

export function createFiles(redis: Redis, keys: Keys, rules: GuardRules, storage: RedisStorage): FileStore {
  const runOnce = createRunOnce(redis, keys);
  const run = createRunner(redis, keys, rules);

  /** Removes a file from the list, or restores it. */
  async function move(script: typeof removeFileScript, code: RoomCode, fileId: string, now: number) {
    const reply = await run(script, code, now, fileId, dueMember(code, fileId));
    return typeof reply === 'string' ? reply : { seq: reply };
  }

  async function erase({ code, fileId }: DueFile, moment: number): Promise<boolean> {
    const isErased = (await run(eraseFileScript, code, moment, fileId, dueMember(code, fileId))) === 1;
    if (isErased) await dropIndexes(redis, [keys.roomOfFile(fileId)]);
    return isErased;
  }

  return {
    async addFile(code, file, { files: maxFiles, bytes: maxBytes }, record) {
      const { uploadedAt: now, link = '' } = file;
      const index = keys.roomOfFile(file.id);
      const entry = [file.id, file.blob, file.size, fileJson(file)];
      const args = [now, ...entry, maxFiles, maxBytes, link, rules.rememberExpiredMs];
      const reply = await storage.addCharged(code, file, async () => {
        // The index first, so that a listed file can be downloaded.
        await redis.send(index, ['SET', index, code, 'PX', String(netMs)]);
        return runOnce(addFileOnce, keysFor(addFileScript, keys, code), args, { record, room: code, now });
      });
      if (typeof reply === 'string') {
        await redis.send(index, ['DEL', index]);
        const repeated = repeatedIn(reply);
        if (repeated) return { repeated };
        return reply as MissingReason | 'full' | 'no-link';
      }
      const [seq, expiresAt] = reply as [number, string];
      await keepIndex(redis, index, Number(expiresAt) - now + netMs);
      return { seq };
    },

    async listFiles(code, now) {
      const reply = await run(listFilesScript, code, now);
      return typeof reply === 'string' ? reply : filesOf(reply);
    },

    async findFile(fileId, now) {
      const code = await roomOfFile(redis, keys, fileId);
      const entry = code && (await run(findFileScript, code, now, fileId));
      return entry ? fileOf(entry) : undefined;
    },

    removeFile: (code, fileId, now) => move(removeFileScript, code, fileId, now),
    restoreFile: (code, fileId, now) => move(restoreFileScript, code, fileId, now),

    async claimFile(code, fileId, { hash, expiresAt }, now) {
      const reply = await run(claimFileScript, code, now, fileId, hash, expiresAt, expiresAt - now + netMs);
      if (typeof reply === 'string') return reply;
      const [outcome, value = ''] = reply;
      if (outcome === 'claimed') return { claimed: fileOf(value) };
      return outcome === 'claimed-until' ? { claimedUntil: Number(value) } : outcome;
    },

    async findClaim(fileId, now) {
      const code = await roomOfFile(redis, keys, fileId);
      const claim = code && (await run(findClaimScript, code, now, fileId));
      return claim ? { hash: claim[0], expiresAt: Number(claim[1]) } : undefined;
    },

    async receiveFile(code, claimHash, now) {
      const reply = await run(receiveFileScript, code, now, claimHash, newSalt(), code);
      if (typeof reply === 'string') return reply;
      const [seq, fileId] = reply;
      await dropIndexes(redis, [keys.roomOfFile(fileId)]);
      return { seq, fileId };
    },

    releaseClaim: (code, claimHash, now) => run(releaseClaimScript, code, now, claimHash, newSalt()),

    async eraseRemoved(moment, limit) {
      const due = await dueFiles(redis, keys, 'removals', `(${moment}`, limit);
      const erased = await Promise.all(due.map((file) => erase(file, moment)));
      return erased.filter(Boolean).length;
    },

    async eraseRemovedIn(code) {
      const erased = await run(eraseFilesOfRoomScript, code, code);
      await dropIndexes(redis, erased.map(keys.roomOfFile));
      return erased.length;
    },
  };
}

const newSalt = () => randomBytes(8).toString('hex');

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

const addFileScript = inLiveRoom(
  'room, files, blobs, storedBytes, links',
  'now, fileId, blob, size, json, maxFiles, maxBytes, link',
).script<[seq: number, expiresAt: string] | 'full' | 'no-link'>(`${countFile}${mayAdd}
if not mayAdd(links, link, now) then return 'no-link' end
if not countFile(room, storedBytes, size, maxFiles, maxBytes) then return 'full' end
local seq = redis.call('HINCRBY', room, 'seq', 1)
redis.call('HSET', files, fileId, seq .. ':' .. json)
redis.call('SADD', blobs, blob)
return {seq, redis.call('HGET', room, 'expiresAt')}
`);

/** With and without the record of its request. */
const addFileOnce = onceScripts(addFileScript, "type(reply) == 'table'");

/** Moves a file between the current and the removed ones. */
const moveFile = (from: string, to: string, note: string) => `
local entry = redis.call('HGET', ${from}, fileId)
if not entry then return 'no-file' end
redis.call('HDEL', ${from}, fileId)
redis.call('HSET', ${to}, fileId, entry)
redis.call(${note})
return redis.call('HINCRBY', room, 'seq', 1)
`;
const movingFile = inLiveRoom('room, files, removed, removals', 'now, fileId, member');
const removeFileScript = movingFile.scriptWhenFull<number | 'no-file'>(
  moveFile('files', 'removed', "'ZADD', removals, now, member"),
);
const restoreFileScript = movingFile.script<number | 'no-file'>(
  moveFile('removed', 'files', "'ZREM', removals, member"),
);

/** Erases a file that was removed before a moment. It may have been restored or removed again since it was found due. */
const eraseFileScript = onKeys(
  'room, removed, removals, blobs, trash, trashOwners, storedBytes',
  'moment, fileId, member',
).scriptWhenFull<0 | 1>(`${dropFile}
local removedAt = redis.call('ZSCORE', removals, member)
if not removedAt or tonumber(removedAt) >= tonumber(moment) then return 0 end
return dropFile(room, removed, removals, fileId, member, '', blobs, trash, trashOwners, storedBytes)
`);

const eraseFilesOfRoomScript = onKeys(
  'room, removed, removals, blobs, trash, trashOwners, storedBytes',
  'code',
).scriptWhenFull<string[]>(`${dropFile}
local ids = redis.call('HKEYS', removed)
for _, id in ipairs(ids) do
  dropFile(room, removed, removals, id, code .. ' ' .. id, '', blobs, trash, trashOwners, storedBytes)
end
return ids
`);

const listFilesScript = inLiveRoom('room, files', 'now').script<string[]>(`
return redis.call('HVALS', files)
`);

const findFileScript = onKeys('room, files', 'now, fileId').script<string | null>(`${isLive}
if not isLive(room, now) then return false end
return redis.call('HGET', files, fileId)
`);

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
 * Drops the claims of files that no longer exist, so that there are at most as many claims as files. Returns the entry
 * of the file, or the expiry of an open claim.
 */
const claimFileScript = inLiveRoom(
  'room, files, removed, claims',
  'now, fileId, hash, claimEndsAt, keepMs',
).scriptWhenFull<
  [outcome: 'claimed' | 'claimed-until' | 'not-once' | 'no-file', value?: string]
>(`${fileIn}${parseClaim}
local entry = redis.call('HGET', files, fileId)
if not entry then return {'no-file'} end
if not fileIn(entry).once then return {'not-once'} end
local last = redis.call('HGET', claims, fileId)
if last then
  local _, expiresAt = parseClaim(last)
  if expiresAt > tonumber(now) then return {'claimed-until', string.format('%.0f', expiresAt)} end
end
for _, id in ipairs(redis.call('HKEYS', claims)) do
  local exists = redis.call('HEXISTS', files, id) + redis.call('HEXISTS', removed, id)
  if exists == 0 then redis.call('HDEL', claims, id) end
end
redis.call('HSET', claims, fileId, hash .. ' ' .. claimEndsAt)
redis.call('PEXPIRE', claims, keepMs)
return {'claimed', entry}
`);

const findClaimScript = onKeys('room, files, claims', 'now, fileId').script<
  [hash: string, expiresAt: string] | null
>(`${isLive}${parseClaim}
if not isLive(room, now) or redis.call('HEXISTS', files, fileId) == 0 then return false end
local claim = redis.call('HGET', claims, fileId)
if not claim then return false end
local hash, expiresAt = parseClaim(claim)
return expiresAt > tonumber(now) and {hash, string.format('%.0f', expiresAt)}
`);

/** Erases a claimed file, which is listed or removed. */
const receiveFileScript = inLiveRoom(
  'room, files, removed, removals, claims, blobs, trash, trashOwners, storedBytes',
  'now, hash, salt, code',
).scriptWhenFull<[seq: number, fileId: string] | 'no-claim'>(`${claimedFile}${dropFile}
local id = claimedFile(claims, hash, salt)
if not id then return 'no-claim' end
redis.call('HDEL', claims, id)
local function drop(list)
  return dropFile(room, list, removals, id, code .. ' ' .. id, '', blobs, trash, trashOwners, storedBytes) == 1
end
if not drop(files) and not drop(removed) then return 'no-claim' end
return {redis.call('HINCRBY', room, 'seq', 1), id}
`);

const releaseClaimScript = inLiveRoom('room, claims', 'now, hash, salt').scriptWhenFull<
  'released' | 'no-claim'
>(`${claimedFile}
local id = claimedFile(claims, hash, salt)
if not id then return 'no-claim' end
redis.call('HDEL', claims, id)
return 'released'
`);
