/** The files of a room. The index by file id is on other nodes of a cluster. */
import type { FileStore, GuardRules, MissingReason, StoredFile } from '../../core/ports.ts';
import type { RoomCode } from '../../core/room-code.ts';
import type { Redis } from '../../redis/connection.ts';
import type { Script } from '../../redis/script.ts';
import { type DueFile, dueFiles, dueMember } from './due-files.ts';
import { dropIndexes, keepIndex } from './file-index.ts';
import * as scripts from './file-scripts.ts';
import { createRunOnce, repeatedIn } from './idempotency.ts';
import { type Keys, netMs } from './keys.ts';
import type { RedisStorage } from './storage.ts';

export type FileList = Pick<
  FileStore,
  'addFile' | 'listFiles' | 'findFile' | 'removeFile' | 'restoreFile' | 'eraseRemoved' | 'eraseRemovedIn'
>;

export function createFileList(redis: Redis, keys: Keys, rules: GuardRules, storage: RedisStorage): FileList {
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
    const isErased = (await redis.run(scripts.eraseFile, keysToErase(code), args)) === 1;
    if (isErased) await dropIndexes(redis, keys, [fileId]);
    return isErased;
  }

  return {
    async addFile(code, file, { files: maxFiles, bytes: maxBytes }, record) {
      const { room, files, blobs, storedBytes } = keys.ofRoom(code);
      const index = keys.roomOfFile(file.id);
      const entry = [file.id, file.blob, file.size, fileJson(file)];
      const args = [file.uploadedAt, rules.rememberExpiredMs, ...entry, maxFiles, maxBytes];
      const reply = await storage.addCharged(code, file, async () => {
        // The index first, so that a listed file can be downloaded.
        await redis.send(index, ['SET', index, code, 'PX', String(netMs)]);
        const request = { record, room: code, now: file.uploadedAt };
        return runOnce(scripts.addFileOnce, [room, files, blobs, storedBytes], args, request);
      });
      if (typeof reply === 'string') {
        await redis.send(index, ['DEL', index]);
        const repeated = repeatedIn(reply);
        if (repeated) return { repeated };
        return reply as MissingReason | 'full';
      }
      const [seq, expiresAt] = reply as [number, string];
      await keepIndex(redis, keys, file.id, Number(expiresAt) - file.uploadedAt + netMs);
      return { seq };
    },

    async listFiles(code, now) {
      const { room, files } = keys.ofRoom(code);
      const reply = await redis.run(scripts.listFiles, [room, files], [now, rules.rememberExpiredMs]);
      return typeof reply === 'string' ? (reply as MissingReason) : filesOf(reply as string[]);
    },

    async findFile(fileId, now) {
      const index = keys.roomOfFile(fileId);
      const code = await redis.send(index, ['GET', index]);
      if (code === null) return undefined;
      const { room, files } = keys.ofRoom(code as RoomCode);
      const entry = await redis.run(scripts.findFile, [room, files], [now, fileId]);
      return entry === null ? undefined : fileOf(String(entry));
    },

    removeFile: (code, fileId, now) => move(scripts.removeFile, code, fileId, now),
    restoreFile: (code, fileId, now) => move(scripts.restoreFile, code, fileId, now),

    async eraseRemoved(moment, limit) {
      const sets = keys.shards.map(({ removals }) => removals);
      const due = await dueFiles(redis, sets, `(${moment}`, limit);
      const erased = await Promise.all(due.map((file) => erase(file, moment)));
      return erased.filter(Boolean).length;
    },

    async eraseRemovedIn(code) {
      const erased = (await redis.run(scripts.eraseFilesOfRoom, keysToErase(code), [code])) as string[];
      await dropIndexes(redis, keys, erased);
      return erased.length;
    },
  };
}

/** Oldest first; files of the same moment in order of arrival. */
export function filesOf(entries: string[]): StoredFile[] {
  const files = entries.map((entry) => ({ seq: Number.parseInt(entry, 10), file: fileOf(entry) }));
  files.sort((a, b) => a.file.uploadedAt - b.file.uploadedAt || a.seq - b.seq);
  return files.map(({ file }) => file);
}

/** Only one-time files have `once`. With an owner of null the file counts. Files from versions without quotas have no owner field. */
export function fileJson(file: StoredFile): string {
  const { id, blob, name, type, size, uploadedAt, owner = null, folder, deviceId, once, meta } = file;
  const optional = { deviceId, once: once || undefined, meta };
  return JSON.stringify({ id, blob, name, type, size, uploadedAt, owner, folder, ...optional });
}

/** Files of earlier versions have no folder and no device. */
export function parseFile(json: string): StoredFile {
  const { owner: stored, folder = '', deviceId, once = false, ...file } = JSON.parse(json) as StoredFile;
  const owner = stored ? { client: stored.client, network: stored.network } : undefined;
  return { ...file, owner, folder, deviceId, once };
}

export const fileOf = (entry: string): StoredFile => parseFile(entry.slice(entry.indexOf(':') + 1));
