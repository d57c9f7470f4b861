/** Changes of unfinished files. Part of the writer's operations. The result is undefined if there is no such room. */
import type { BlobProgress, FileQuota, UnfinishedFile } from '../../core/ports.ts';
import type { RoomCode } from '../../core/room-code.ts';
import { countFile, dropFiles, insertFile, liveRoom, nextSeq } from './file-operations.ts';
import type { Sql } from './statements.ts';

const isUnfinished = 'id = ? AND room = ? AND ends_at > ?';

export function startUpload(
  sql: Sql,
  code: RoomCode,
  file: UnfinishedFile,
  quota: FileQuota,
): 'started' | 'full' | undefined {
  const room = liveRoom(sql, code, file.uploadedAt);
  if (room === undefined) return undefined;
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
): 'advanced' | 'stale' | 'no-file' | undefined {
  const room = liveRoom(sql, code, now);
  if (room === undefined) return undefined;
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
): { seq: number } | 'no-file' | undefined {
  const room = liveRoom(sql, code, now);
  if (room === undefined) return undefined;
  const finished = sql(`
    UPDATE files SET rowid = (SELECT max(rowid) + 1 FROM files), uploaded_at = ?, received = NULL, ends_at = NULL,
      blob_state = NULL
    WHERE ${isUnfinished} AND received = size RETURNING 1
  `).get(now, fileId, room, now);
  return finished ? nextSeq(sql, room) : 'no-file';
}

export function cancelUpload(
  sql: Sql,
  code: RoomCode,
  fileId: string,
  now: number,
): 'cancelled' | 'no-file' | undefined {
  const room = liveRoom(sql, code, now);
  if (room === undefined) return undefined;
  return dropFiles(sql, isUnfinished, fileId, room, now).length > 0 ? 'cancelled' : 'no-file';
}

/** Returns the room of each dropped file. */
export function expireUploads(sql: Sql, now: number, limit: number): RoomCode[] {
  const due = 'SELECT rowid FROM files WHERE ends_at <= ? ORDER BY ends_at LIMIT ?';
  return dropFiles(sql, `rowid IN (${due})`, now, limit);
}
