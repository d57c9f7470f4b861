/** The files of a room. The index by file id is on other nodes of a cluster. */
import type { GuardRules, MissingReason, RoomStore, StoredFile } from '../../core/ports.ts';
import type { RoomCode } from '../../core/room-code.ts';
import type { Redis } from '../../redis/connection.ts';
import { clearUp } from './clear-up.ts';
import * as scripts from './file-scripts.ts';
import { type Keys, netMs } from './keys.ts';
import type { RedisStorage } from './storage.ts';

export type FileList = Pick<RoomStore, 'addFile' | 'listFiles' | 'findFile' | 'removeFile'>;

export function createFileList(redis: Redis, keys: Keys, rules: GuardRules, storage: RedisStorage): FileList {
  /** Runs before the file is added: the reservation ends an excess charge, but nothing would add a missing one. */
  async function charge(code: RoomCode, { blob, owner, size, uploadedAt }: StoredFile): Promise<void> {
    if (!owner) return;
    const { room } = keys.ofRoom(code);
    const expiresAt = Number(await redis.send(room, ['HGET', room, 'expiresAt']));
    await storage.charge({ blob, owner, size, expiresAt }, uploadedAt);
  }

  return {
    async addFile(code, file, { files: maxFiles, bytes: maxBytes }) {
      const { room, files, blobs, storedBytes } = keys.ofRoom(code);
      const index = keys.roomOfFile(file.id);
      await charge(code, file);
      // The index first, so that a listed file can be downloaded.
      await redis.send(index, ['SET', index, code, 'PX', String(netMs)]);
      const entry = [file.id, file.blob, file.size, fileJson(file)];
      const args = [file.uploadedAt, rules.rememberExpiredMs, ...entry, maxFiles, maxBytes];
      const reply = await redis.run(scripts.addFile, [room, files, blobs, storedBytes], args);
      if (typeof reply === 'string') {
        await redis.send(index, ['DEL', index]);
        if (file.owner) await storage.release({ blob: file.blob, owner: file.owner });
        return reply as MissingReason | 'full';
      }
      // The file is stored. If this fails, the sweep does it.
      if (file.owner) await storage.dropReservation(file.blob, file.owner).catch(() => undefined);
      const [seq, expiresAt] = reply as [number, string];
      await redis.send(index, ['PEXPIRE', index, String(Number(expiresAt) - file.uploadedAt + netMs)]);
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

    async removeFile(code, fileId, now) {
      const { room, files, blobs, trash, trashOwners, storedBytes } = keys.ofRoom(code);
      const touched = [room, files, blobs, trash, trashOwners, storedBytes];
      const reply = await redis.run(scripts.removeFile, touched, [now, rules.rememberExpiredMs, fileId]);
      if (typeof reply === 'string') return reply as 'no-file' | MissingReason;
      const index = keys.roomOfFile(fileId);
      await clearUp(redis, index, ['DEL', index]);
      return { seq: Number(reply) };
    },
  };
}

/** Oldest first; files of the same moment in order of arrival. */
export function filesOf(entries: string[]): StoredFile[] {
  const files = entries.map((entry) => ({ seq: Number.parseInt(entry, 10), file: fileOf(entry) }));
  files.sort((a, b) => a.file.uploadedAt - b.file.uploadedAt || a.seq - b.seq);
  return files.map(({ file }) => file);
}

/** With an owner of null the file counts. Files from versions without quotas have no owner field. */
export const fileJson = (file: StoredFile): string => JSON.stringify({ ...file, owner: file.owner ?? null });

function fileOf(entry: string): StoredFile {
  const file = JSON.parse(entry.slice(entry.indexOf(':') + 1)) as StoredFile;
  return { ...file, owner: file.owner ? { client: file.owner.client, network: file.owner.network } : undefined };
}
