/** The unfinished files of a room. They have lists of their own, so that no list of files reads their states. */
import {
  type GuardRules,
  type MissingReason,
  type UnfinishedFile,
  type UploadStore,
  unfinishedName,
} from '../../core/ports.ts';
import type { RoomCode } from '../../core/room-code.ts';
import type { Redis } from '../../redis/connection.ts';
import { type DueFile, dueFiles, dueMember } from './due-files.ts';
import { keepIndex } from './file-index.ts';
import { fileJson, parseFile } from './file-list.ts';
import { type Keys, netMs } from './keys.ts';
import type { RedisStorage } from './storage.ts';
import * as scripts from './upload-scripts.ts';

interface Found {
  upload: UnfinishedFile;
  roomExpiresAt: number;
}

export function createUploadList(redis: Redis, keys: Keys, rules: GuardRules, storage: RedisStorage): UploadStore {
  const keysFor = (code: RoomCode) => {
    const { room, uploads, uploadStates, uploadEnds } = keys.ofRoom(code);
    return [room, uploads, uploadStates, uploadEnds];
  };

  const keysToDrop = (code: RoomCode) => {
    const { blobs, trash, trashOwners, storedBytes } = keys.ofRoom(code);
    return [...keysFor(code), blobs, trash, trashOwners, storedBytes];
  };

  const argsFor = (code: RoomCode, fileId: string, now: number) => [
    now,
    rules.rememberExpiredMs,
    fileId,
    dueMember(code, fileId),
  ];

  async function find(code: RoomCode, fileId: string, now: number): Promise<Found | 'no-file' | MissingReason> {
    const reply = await redis.run(scripts.findUpload, keysFor(code), argsFor(code, fileId, now));
    return typeof reply === 'string' ? (reply as 'no-file' | MissingReason) : foundOf(reply as FoundReply);
  }

  async function expire({ code, fileId }: DueFile, now: number): Promise<number> {
    const args = [now, fileId, dueMember(code, fileId)];
    return Number(await redis.run(scripts.expireUpload, keysToDrop(code), args));
  }

  return {
    async startUpload(code, file, { files: maxFiles, bytes: maxBytes }) {
      const { blobs, storedBytes } = keys.ofRoom(code);
      const entry = `${file.received}:${fileJson(file)}`;
      const args = [
        ...argsFor(code, file.id, file.uploadedAt),
        ...[file.size, entry, maxFiles, maxBytes, file.state, file.expiresAt],
        ...[file.blob, unfinishedName(file.blob)],
      ];
      const touched = [...keysFor(code), blobs, storedBytes];
      const reply = await storage.addCharged(code, file, () => redis.run(scripts.startUpload, touched, args));
      return typeof reply === 'string' ? (reply as MissingReason | 'full') : 'started';
    },

    async findUpload(code, fileId, now) {
      const found = await find(code, fileId, now);
      return typeof found === 'string' ? found : found.upload;
    },

    async advanceUpload(code, fileId, from, { received, state }, now) {
      const args = [...argsFor(code, fileId, now), from, received, state];
      const reply = await redis.run(scripts.advanceUpload, keysFor(code), args);
      return reply as 'advanced' | 'stale' | 'no-file' | MissingReason;
    },

    async finishUpload(code, fileId, now) {
      const found = await find(code, fileId, now);
      if (typeof found === 'string') return found;
      const { upload, roomExpiresAt } = found;
      if (upload.received < upload.size) return 'no-file';
      const { files, blobs } = keys.ofRoom(code);
      // The index first, so that a listed file can be downloaded. An index of an unlisted file leads to no file.
      const index = keys.roomOfFile(fileId);
      await redis.send(index, ['SET', index, code, 'PX', String(roomExpiresAt - now + netMs)]);
      const json = fileJson({ ...upload, uploadedAt: now });
      const args = [...argsFor(code, fileId, now), upload.size, json, unfinishedName(upload.blob)];
      const reply = await redis.run(scripts.finishUpload, [...keysFor(code), files, blobs], args);
      if (typeof reply === 'string') return reply as 'no-file' | MissingReason;
      const [seq, expiresAt] = reply as [number, string];
      // The room may have been extended since it was found.
      if (Number(expiresAt) > roomExpiresAt) await keepIndex(redis, keys, fileId, Number(expiresAt) - now + netMs);
      return { seq };
    },

    async cancelUpload(code, fileId, now) {
      const reply = await redis.run(scripts.cancelUpload, keysToDrop(code), argsFor(code, fileId, now));
      return reply as 'cancelled' | 'no-file' | MissingReason;
    },

    async expireUploads(now, limit) {
      const sets = keys.shards.map(({ uploadEnds }) => uploadEnds);
      const due = await dueFiles(redis, sets, String(now), limit);
      const expired = await Promise.all(due.map((file) => expire(file, now)));
      return expired.reduce((sum, count) => sum + count, 0);
    },
  };
}

type FoundReply = [received: string, json: string, state: string, expiresAt: string, roomExpiresAt: string];

function foundOf([received, json, state, expiresAt, roomExpiresAt]: FoundReply): Found {
  return {
    upload: { ...parseFile(json), received: Number(received), state, expiresAt: Number(expiresAt) },
    roomExpiresAt: Number(roomExpiresAt),
  };
}
