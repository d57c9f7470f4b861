/** The unfinished files of a room. */
import type { BlobProgress } from '../../core/ports/blobs.ts';
import type { FileQuota, UnfinishedFile, UploadStore } from '../../core/ports/files.ts';
import type { LinkId, RoomCode } from '../../core/room-code.ts';
import { gone, liveRoom, type RoomReader, roomIdOf } from './cache.ts';
import type { Sql } from './database.ts';
import {
  countFile,
  dropFiles,
  fileColumns,
  insertFile,
  mayAdd,
  nextSeq,
  unfinishedFileOf,
  uploadColumns,
} from './files.ts';
import type { SqliteStorage } from './quota.ts';
import type { Writer } from './writer.ts';

export function createUploadStore(rooms: RoomReader, writer: Writer, storage: SqliteStorage): UploadStore {
  const { sql, cache, readLive, orReason, changing } = rooms;
  return {
    async startUpload(code, file, quota) {
      const started = await changing(code, writer.run(startUpload, code, file, quota));
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
      return orReason(code, now, await changing(code, writer.run(advanceUpload, code, fileId, from, progress, now)));
    },

    async finishUpload(code, fileId, now) {
      return orReason(code, now, await changing(code, writer.run(finishUpload, code, fileId, now)));
    },

    async cancelUpload(code, fileId, now) {
      return orReason(code, now, await changing(code, writer.run(cancelUpload, code, fileId, now)));
    },

    async expireUploads(now, limit) {
      const codes = await writer.run(expireUploads, now, limit);
      for (const code of codes) cache.drop(code);
      return codes.length;
    },
  };
}

const isUnfinished = 'id = ? AND room = ? AND ends_at > ?';

export function startUpload(
  sql: Sql,
  code: RoomCode,
  file: UnfinishedFile,
  quota: FileQuota,
): 'started' | 'full' | 'no-link' | 'gone' {
  const room = liveRoom(sql, code, file.uploadedAt);
  if (room === undefined) return gone(sql, code, file.uploadedAt);
  if (!mayAdd(sql, room, file.link, file.uploadedAt)) return 'no-link';
  if (!countFile(sql, room, file.size, quota)) return 'full';
  insertFile(sql, room, file);
  sql('UPDATE files SET received = ?, ends_at = ?, blob_state = ? WHERE id = ?').get(
    file.received,
    file.expiresAt,
    file.state,
    file.id,
  );
  return 'started';
}

export function advanceUpload(
  sql: Sql,
  code: RoomCode,
  fileId: string,
  from: number,
  { received, state }: BlobProgress,
  now: number,
): 'advanced' | 'stale' | 'no-file' | 'gone' {
  const room = liveRoom(sql, code, now);
  if (room === undefined) return gone(sql, code, now);
  const advanced = sql(`
    UPDATE files SET received = ?, blob_state = ? WHERE ${isUnfinished} AND received = ? RETURNING 1
  `).get(received, state, fileId, room, now, from);
  if (advanced) return 'advanced';
  return sql(`SELECT 1 FROM files WHERE ${isUnfinished}`).get(fileId, room, now) ? 'stale' : 'no-file';
}

/** The row gets the last id, because files of the same moment are listed in this order. */
export function finishUpload(
  sql: Sql,
  code: RoomCode,
  fileId: string,
  now: number,
): { seq: number } | 'no-file' | 'no-link' | 'gone' {
  const room = liveRoom(sql, code, now);
  if (room === undefined) return gone(sql, code, now);
  const link = sql('SELECT link FROM files WHERE id = ? AND room = ?').get(fileId, room)?.link as LinkId | null;
  if (!mayAdd(sql, room, link ?? undefined, now)) return 'no-link';
  const finished = sql(`
    UPDATE files SET rowid = (SELECT max(rowid) + 1 FROM files), uploaded_at = ?, received = NULL, ends_at = NULL,
      blob_state = NULL
    WHERE ${isUnfinished} AND received = size RETURNING 1
  `).get(now, fileId, room, now);
  return finished ? nextSeq(sql, room) : 'no-file';
}

export function cancelUpload(sql: Sql, code: RoomCode, fileId: string, now: number): 'cancelled' | 'no-file' | 'gone' {
  const room = liveRoom(sql, code, now);
  if (room === undefined) return gone(sql, code, now);
  return dropFiles(sql, isUnfinished, fileId, room, now).length > 0 ? 'cancelled' : 'no-file';
}

/** Returns the room of each dropped file. */
export function expireUploads(sql: Sql, now: number, limit: number): RoomCode[] {
  const due = 'SELECT rowid FROM files WHERE ends_at <= ? ORDER BY ends_at LIMIT ?';
  return dropFiles(sql, `rowid IN (${due})`, now, limit);
}
