/** The unfinished files of a room. They have lists of their own, so that no list of files reads their states. */
import { type UploadStore, unfinishedName } from '../../core/ports/files.ts';
import type { GuardRules } from '../../core/ports/rooms.ts';
import type { RoomCode } from '../../core/room-code.ts';
import type { Redis } from '../../redis/connection.ts';
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
import { createRunner, inLiveRoom, type Keys, netMs, onKeys } from './keys.ts';
import type { RedisStorage } from './quota.ts';

export function createUploads(redis: Redis, keys: Keys, rules: GuardRules, storage: RedisStorage): UploadStore {
  const run = createRunner(redis, keys, rules);

  /** The first arguments of every script. */
  const naming = (code: RoomCode, fileId: string, now: number) => [now, fileId, dueMember(code, fileId)] as const;

  async function find(code: RoomCode, fileId: string, now: number) {
    const reply = await run(findUploadScript, code, ...naming(code, fileId, now));
    return typeof reply === 'string' ? reply : foundOf(reply);
  }

  return {
    async startUpload(code, file, { files: maxFiles, bytes: maxBytes }) {
      const args = [
        ...naming(code, file.id, file.uploadedAt),
        ...[file.size, `${file.received}:${fileJson(file)}`, maxFiles, maxBytes, file.state, file.expiresAt],
        ...[file.blob, unfinishedName(file.blob), file.link ?? ''],
      ];
      const reply = await storage.addCharged(code, file, () => run(startUploadScript, code, ...args));
      return reply === 1 ? 'started' : reply;
    },

    async findUpload(code, fileId, now) {
      const found = await find(code, fileId, now);
      return typeof found === 'string' ? found : found.upload;
    },

    advanceUpload: (code, fileId, from, { received, state }, now) =>
      run(advanceUploadScript, code, ...naming(code, fileId, now), from, received, state),

    async finishUpload(code, fileId, now) {
      const found = await find(code, fileId, now);
      if (typeof found === 'string') return found;
      const { upload, roomExpiresAt } = found;
      if (upload.received < upload.size) return 'no-file';
      // The index first, so that a listed file can be downloaded. An index of an unlisted file leads to no file.
      const index = keys.roomOfFile(fileId);
      await redis.send(index, ['SET', index, code, 'PX', String(roomExpiresAt - now + netMs)]);
      const json = fileJson({ ...upload, uploadedAt: now });
      const finished = [upload.size, json, unfinishedName(upload.blob), upload.link ?? ''];
      const reply = await run(finishUploadScript, code, ...naming(code, fileId, now), ...finished);
      if (typeof reply === 'string') return reply;
      const [seq, expiresAt] = reply;
      // The room may have been extended since it was found.
      if (Number(expiresAt) > roomExpiresAt) await keepIndex(redis, index, Number(expiresAt) - now + netMs);
      return { seq };
    },

    cancelUpload: (code, fileId, now) => run(cancelUploadScript, code, ...naming(code, fileId, now)),

    async expireUploads(now, limit) {
      const due = await dueFiles(redis, keys, 'uploadEnds', String(now), limit);
      const expire = ({ code, fileId }: DueFile) => run(expireUploadScript, code, ...naming(code, fileId, now));
      const expired = await Promise.all(due.map(expire));
      return expired.filter(Boolean).length;
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

const startUploadScript = inLiveRoom(
  'room, uploads, uploadStates, uploadEnds, blobs, storedBytes, links',
  'now, fileId, member, size, entry, maxFiles, maxBytes, state, endsAt, blob, unfinished, link',
).script<1 | 'full' | 'no-link'>(`${countFile}${mayAdd}
if not mayAdd(links, link, now) then return 'no-link' end
if not countFile(room, storedBytes, size, maxFiles, maxBytes) then return 'full' end
redis.call('HSET', uploads, fileId, entry)
redis.call('HSET', uploadStates, fileId, state)
redis.call('ZADD', uploadEnds, endsAt, member)
redis.call('SADD', blobs, blob, unfinished)
return 1
`);

const findUploadScript = inLiveRoom('room, uploads, uploadStates, uploadEnds', 'now, fileId, member').script<
  FoundReply | 'no-file'
>(`${uploadIn}
local received, json = uploadIn(uploads, uploadEnds, fileId, member, now)
if not received then return 'no-file' end
return {received, json, redis.call('HGET', uploadStates, fileId), redis.call('ZSCORE', uploadEnds, member),
  redis.call('HGET', room, 'expiresAt')}
`);

const advanceUploadScript = inLiveRoom(
  'room, uploads, uploadStates, uploadEnds',
  'now, fileId, member, from, to, state',
).script<'advanced' | 'stale' | 'no-file'>(`${uploadIn}
local received, json = uploadIn(uploads, uploadEnds, fileId, member, now)
if not received then return 'no-file' end
if received ~= from then return 'stale' end
redis.call('HSET', uploads, fileId, to .. ':' .. json)
redis.call('HSET', uploadStates, fileId, state)
return 'advanced'
`);

const finishUploadScript = inLiveRoom(
  'room, uploads, uploadStates, uploadEnds, files, blobs, links',
  'now, fileId, member, size, json, unfinished, link',
).script<[seq: number, expiresAt: string] | 'no-file' | 'no-link'>(`${uploadIn}${mayAdd}
if not mayAdd(links, link, now) then return 'no-link' end
local received = uploadIn(uploads, uploadEnds, fileId, member, now)
if received ~= size then return 'no-file' end
redis.call('HDEL', uploads, fileId)
redis.call('HDEL', uploadStates, fileId)
redis.call('ZREM', uploadEnds, member)
local seq = redis.call('HINCRBY', room, 'seq', 1)
redis.call('HSET', files, fileId, seq .. ':' .. json)
redis.call('SREM', blobs, unfinished)
return {seq, redis.call('HGET', room, 'expiresAt')}
`);

const cancelUploadScript = inLiveRoom(
  'room, uploads, uploadStates, uploadEnds, blobs, trash, trashOwners, storedBytes',
  'now, fileId, member',
).scriptWhenFull<'cancelled' | 'no-file'>(`${uploadIn}${dropUpload}
if not uploadIn(uploads, uploadEnds, fileId, member, now) then return 'no-file' end
dropUpload(room, uploads, uploadStates, uploadEnds, fileId, member, blobs, trash, trashOwners, storedBytes)
return 'cancelled'
`);

const expireUploadScript = onKeys(
  'room, uploads, uploadStates, uploadEnds, blobs, trash, trashOwners, storedBytes',
  'now, fileId, member',
).scriptWhenFull<0 | 1>(`${dropUpload}
local endsAt = redis.call('ZSCORE', uploadEnds, member)
if not endsAt or tonumber(endsAt) > tonumber(now) then return 0 end
return dropUpload(room, uploads, uploadStates, uploadEnds, fileId, member, blobs, trash, trashOwners, storedBytes)
`);
