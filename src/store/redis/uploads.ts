/** The unfinished files of a room. They have lists of their own, so that no list of files reads their states. */

import type { MissingReason } from '../../core/ports/basics.ts';
import { unfinishedName } from '../../core/ports/blobs.ts';
import type { UploadStore } from '../../core/ports/files.ts';
import type { GuardRules } from '../../core/ports/rooms.ts';
import type { RoomCode } from '../../core/room-code.ts';
import type { Redis } from '../../redis/connection.ts';
import { script, scriptWhenFull } from '../../redis/script.ts';
import {
  countFile,
  type DueFile,
  dropFile,
  dueFiles,
  dueMember,
  fileJson,
  keepIndex,
  mayAdd,
  parseFile,
} from './files.ts';
import { type Keys, netMs, returnIfMissing } from './keys.ts';
import type { RedisStorage } from './quota.ts';

export function createUploads(redis: Redis, keys: Keys, rules: GuardRules, storage: RedisStorage): UploadStore {
  const keysFor = (code: RoomCode) => {
    const { room, uploads, uploadStates, uploadEnds } = keys.ofRoom(code);
    return [room, uploads, uploadStates, uploadEnds];
  };

  const keysToDrop = (code: RoomCode) => {
    const { blobs, trash, trashOwners, storedBytes } = keys.ofRoom(code);
    return [...keysFor(code), blobs, trash, trashOwners, storedBytes];
  };

  function argsFor(code: RoomCode, fileId: string, now: number) {
    return [now, rules.rememberExpiredMs, fileId, dueMember(code, fileId)];
  }

  async function find(code: RoomCode, fileId: string, now: number) {
    const reply = await redis.run(findUploadScript, keysFor(code), argsFor(code, fileId, now));
    return typeof reply === 'string' ? (reply as 'no-file' | MissingReason) : foundOf(reply as FoundReply);
  }

  async function expire({ code, fileId }: DueFile, now: number): Promise<number> {
    const args = [now, fileId, dueMember(code, fileId)];
    return Number(await redis.run(expireUploadScript, keysToDrop(code), args));
  }

  return {
    async startUpload(code, file, { files: maxFiles, bytes: maxBytes }) {
      const { blobs, storedBytes, links } = keys.ofRoom(code);
      const entry = `${file.received}:${fileJson(file)}`;
      const args = [
        ...argsFor(code, file.id, file.uploadedAt),
        ...[file.size, entry, maxFiles, maxBytes, file.state, file.expiresAt],
        ...[file.blob, unfinishedName(file.blob), file.link ?? ''],
      ];
      const touched = [...keysFor(code), blobs, storedBytes, links];
      const reply = await storage.addCharged(code, file, () => redis.run(startUploadScript, touched, args));
      return typeof reply === 'string' ? (reply as MissingReason | 'full' | 'no-link') : 'started';
    },

    async findUpload(code, fileId, now) {
      const found = await find(code, fileId, now);
      return typeof found === 'string' ? found : found.upload;
    },

    async advanceUpload(code, fileId, from, { received, state }, now) {
      const args = [...argsFor(code, fileId, now), from, received, state];
      const reply = await redis.run(advanceUploadScript, keysFor(code), args);
      return reply as 'advanced' | 'stale' | 'no-file' | MissingReason;
    },

    async finishUpload(code, fileId, now) {
      const found = await find(code, fileId, now);
      if (typeof found === 'string') return found;
      const { upload, roomExpiresAt } = found;
      if (upload.received < upload.size) return 'no-file';
      const { files, blobs, links } = keys.ofRoom(code);
      // The index first, so that a listed file can be downloaded. An index of an unlisted file leads to no file.
      const index = keys.roomOfFile(fileId);
      await redis.send(index, ['SET', index, code, 'PX', String(roomExpiresAt - now + netMs)]);
      const json = fileJson({ ...upload, uploadedAt: now });
      const args = [...argsFor(code, fileId, now), upload.size, json, unfinishedName(upload.blob), upload.link ?? ''];
      const reply = await redis.run(finishUploadScript, [...keysFor(code), files, blobs, links], args);
      if (typeof reply === 'string') return reply as 'no-file' | 'no-link' | MissingReason;
      const [seq, expiresAt] = reply as [number, string];
      // The room may have been extended since it was found.
      if (Number(expiresAt) > roomExpiresAt) await keepIndex(redis, index, Number(expiresAt) - now + netMs);
      return { seq };
    },

    async cancelUpload(code, fileId, now) {
      const reply = await redis.run(cancelUploadScript, keysToDrop(code), argsFor(code, fileId, now));
      return reply as 'cancelled' | 'no-file' | MissingReason;
    },

    async expireUploads(now, limit) {
      const due = await dueFiles(redis, keys, 'uploadEnds', String(now), limit);
      const expired = await Promise.all(due.map((file) => expire(file, now)));
      return expired.reduce((sum, count) => sum + count, 0);
    },
  };
}

type FoundReply = [received: string, json: string, state: string, expiresAt: string, roomExpiresAt: string];

function foundOf([received, json, state, expiresAt, roomExpiresAt]: FoundReply) {
  const upload = { ...parseFile(json), received: Number(received), state, expiresAt: Number(expiresAt) };
  return { upload, roomExpiresAt: Number(roomExpiresAt) };
}

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
export const dropUpload = `${dropFile}
local function dropUpload(room, uploads, states, ends, id, member, ...)
  redis.call('HDEL', states, id)
  return dropFile(room, uploads, ends, id, member, '${unfinishedName('')}', ...)
end
`;

/**
 * KEYS: room, unfinished files, their states, ends of uploads, blobs, stored bytes, links. ARGV: now, rememberExpiredMs,
 * id, member of the ends, size, entry, max files, max bytes, state, expiresAt, blob, its unfinished name, link or ''.
 */
const startUploadScript = script(`${returnIfMissing}${countFile}${mayAdd}
if not mayAdd(KEYS[7], ARGV[13], ARGV[1]) then return 'no-link' end
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
const findUploadScript = script(`${returnIfMissing}${uploadIn}
local received, json = uploadIn(KEYS[2], KEYS[4], ARGV[3], ARGV[4], ARGV[1])
if not received then return 'no-file' end
return {received, json, redis.call('HGET', KEYS[3], ARGV[3]), redis.call('ZSCORE', KEYS[4], ARGV[4]),
  redis.call('HGET', KEYS[1], 'expiresAt')}
`);

/** KEYS as for findUpload. ARGV as for findUpload, then the received bytes before, those after, and the state. */
const advanceUploadScript = script(`${returnIfMissing}${uploadIn}
local received, json = uploadIn(KEYS[2], KEYS[4], ARGV[3], ARGV[4], ARGV[1])
if not received then return 'no-file' end
if received ~= ARGV[5] then return 'stale' end
redis.call('HSET', KEYS[2], ARGV[3], ARGV[6] .. ':' .. json)
redis.call('HSET', KEYS[3], ARGV[3], ARGV[7])
return 'advanced'
`);

/**
 * KEYS: room, unfinished files, their states, ends of uploads, files, blobs, links. ARGV as for findUpload, then the
 * size, the json of the finished file, the unfinished name of its blob, and the link or ''. Returns the seq and the
 * expiry of the room.
 */
const finishUploadScript = script(`${returnIfMissing}${uploadIn}${mayAdd}
if not mayAdd(KEYS[7], ARGV[8], ARGV[1]) then return 'no-link' end
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
const cancelUploadScript = scriptWhenFull(`${returnIfMissing}${uploadIn}${dropUpload}
if not uploadIn(KEYS[2], KEYS[4], ARGV[3], ARGV[4], ARGV[1]) then return 'no-file' end
dropUpload(KEYS[1], KEYS[2], KEYS[3], KEYS[4], ARGV[3], ARGV[4], unpack(KEYS, 5, 8))
return 'cancelled'
`);

/** KEYS as for cancelUpload. ARGV: now, id, member of the ends. Returns whether it was dropped. */
const expireUploadScript = scriptWhenFull(`${dropUpload}
local endsAt = redis.call('ZSCORE', KEYS[4], ARGV[3])
if not endsAt or tonumber(endsAt) > tonumber(ARGV[1]) then return 0 end
return dropUpload(KEYS[1], KEYS[2], KEYS[3], KEYS[4], ARGV[2], ARGV[3], unpack(KEYS, 5, 8))
`);
