/** The unfinished files of a room. */
import type { UploadStore } from '../../core/ports.ts';
import { roomIdOf } from './room-id.ts';
import type { RoomReader } from './room-reader.ts';
import { fileColumns, unfinishedFileOf, uploadColumns } from './rows.ts';
import type { SqliteStorage } from './storage.ts';
import type { Writer } from './writer.ts';

export function createUploadStore(rooms: RoomReader, writer: Writer, storage: SqliteStorage): UploadStore {
  const { sql, cache, readLive, orReason, changing } = rooms;
  return {
    async startUpload(code, file, quota) {
      const started = await changing(code, writer.run('startUpload', code, file, quota));
      storage.onFileAdded(file.blob);
      return orReason(code, file.uploadedAt, started);
    },

    findUpload: (code, fileId, now) =>
      readLive(code, now, () => {
        const row = sql(
          `SELECT ${fileColumns}, ${uploadColumns} FROM files WHERE id = ? AND room = ? AND ends_at > ?`,
        ).get(fileId, roomIdOf(code), now);
        return row ? unfinishedFileOf(row) : 'no-file';
      }),

    async advanceUpload(code, fileId, from, progress, now) {
      return orReason(code, now, await changing(code, writer.run('advanceUpload', code, fileId, from, progress, now)));
    },

    async finishUpload(code, fileId, now) {
      return orReason(code, now, await changing(code, writer.run('finishUpload', code, fileId, now)));
    },

    async cancelUpload(code, fileId, now) {
      return orReason(code, now, await changing(code, writer.run('cancelUpload', code, fileId, now)));
    },

    async expireUploads(now, limit) {
      const codes = await writer.run('expireUploads', now, limit);
      for (const code of codes) cache.drop(code);
      return codes.length;
    },
  };
}
