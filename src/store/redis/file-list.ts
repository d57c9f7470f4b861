/** The files of a room. Where each of them is found by its id alone lies elsewhere on a cluster. */
import type { Absence, GuardRules, RoomStore, StoredFile } from '../../core/ports.ts';
import type { RoomCode } from '../../core/room-code.ts';
import type { Redis } from '../../redis/connection.ts';
import { clearUp } from './clear-up.ts';
import * as scripts from './file-scripts.ts';
import { type Keys, netMs } from './keys.ts';

export type FileList = Pick<RoomStore, 'addFile' | 'listFiles' | 'findFile' | 'removeFile'>;

export function createFileList(redis: Redis, keys: Keys, rules: GuardRules): FileList {
  return {
    async addFile(code, file, { files: mostFiles, bytes: mostBytes }) {
      const { room, files, blobs } = keys.ofRoom(code);
      const index = keys.roomOfFile(file.id);
      // The address first: a file that is listed can be fetched.
      await redis.send(index, ['SET', index, code, 'PX', String(netMs)]);
      const entry = [file.id, file.blob, file.size, JSON.stringify(file)];
      const args = [file.uploadedAt, rules.rememberExpiredMs, ...entry, mostFiles, mostBytes];
      const reply = await redis.run(scripts.addFile, [room, files, blobs], args);
      if (typeof reply === 'string') {
        await redis.send(index, ['DEL', index]);
        return reply as Absence | 'full';
      }
      const [seq, expiresAt] = reply as [number, string];
      await redis.send(index, ['PEXPIRE', index, String(Number(expiresAt) - file.uploadedAt + netMs)]);
      return { seq };
    },

    async listFiles(code, now) {
      const { room, files } = keys.ofRoom(code);
      const reply = await redis.run(scripts.listFiles, [room, files], [now, rules.rememberExpiredMs]);
      return typeof reply === 'string' ? (reply as Absence) : filesOf(reply as string[]);
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
      const { room, files, blobs, trash } = keys.ofRoom(code);
      const args = [now, rules.rememberExpiredMs, fileId];
      const reply = await redis.run(scripts.removeFile, [room, files, blobs, trash], args);
      if (typeof reply === 'string') return reply as 'no-file' | Absence;
      const index = keys.roomOfFile(fileId);
      await clearUp(redis, index, ['DEL', index]);
      return { seq: Number(reply) };
    },
  };
}

/** Oldest first; those of one moment in the order in which they came. */
export function filesOf(entries: string[]): StoredFile[] {
  const files = entries.map((entry) => ({ seq: Number.parseInt(entry, 10), file: fileOf(entry) }));
  files.sort((a, b) => a.file.uploadedAt - b.file.uploadedAt || a.seq - b.seq);
  return files.map(({ file }) => file);
}

const fileOf = (entry: string): StoredFile => JSON.parse(entry.slice(entry.indexOf(':') + 1)) as StoredFile;
