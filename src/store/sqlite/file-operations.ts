/** Changes of files. Part of the writer's operations. The result is undefined if there is no such room. */
import type { FileQuota, Repeated, RequestRecord, StoredFile } from '../../core/ports.ts';
import type { RoomCode } from '../../core/room-code.ts';
import { findRequest, rememberRequest } from './idempotency-operations.ts';
import { type RoomId, roomIdOf } from './room-id.ts';
import { isListed } from './rows.ts';
import type { Sql } from './statements.ts';

interface Change {
  seq: number;
}

export function addFile(
  sql: Sql,
  code: RoomCode,
  file: StoredFile,
  quota: FileQuota,
  record: RequestRecord | undefined,
): Change | Repeated | 'full' | undefined {
  const repeated = record && findRequest(sql, record, file.uploadedAt);
  if (repeated) return { repeated };
  const room = liveRoom(sql, code, file.uploadedAt);
  if (room === undefined) return undefined;
  if (!countFile(sql, room, file.size, quota)) return 'full';
  insertFile(sql, room, file);
  if (record) rememberRequest(sql, record);
  return nextSeq(sql, room);
}

export function removeFile(sql: Sql, code: RoomCode, fileId: string, now: number): Change | 'no-file' | undefined {
  const room = liveRoom(sql, code, now);
  if (room === undefined) return undefined;
  const query = `UPDATE files SET removed_at = ? WHERE id = ? AND room = ? AND ${isListed} RETURNING 1`;
  return sql(query).get(now, fileId, room) ? nextSeq(sql, room) : 'no-file';
}

export function restoreFile(sql: Sql, code: RoomCode, fileId: string, now: number): Change | 'no-file' | undefined {
  const room = liveRoom(sql, code, now);
  if (room === undefined) return undefined;
  const query = 'UPDATE files SET removed_at = NULL WHERE id = ? AND room = ? AND removed_at IS NOT NULL RETURNING 1';
  return sql(query).get(fileId, room) ? nextSeq(sql, room) : 'no-file';
}

/** Returns the room of each erased file. */
export function eraseRemoved(sql: Sql, moment: number, limit: number): RoomCode[] {
  const due = 'SELECT rowid FROM files WHERE removed_at < ? ORDER BY removed_at LIMIT ?';
  return dropFiles(sql, `rowid IN (${due})`, moment, limit);
}

export const eraseRemovedIn = (sql: Sql, code: RoomCode): RoomCode[] =>
  dropFiles(sql, 'room = ? AND removed_at IS NOT NULL', roomIdOf(code));

/** Triggers add the size to the usage of the owner. */
export function insertFile(sql: Sql, room: RoomId, file: StoredFile): void {
  sql(`
    INSERT INTO files (id, room, blob, name, type, size, uploaded_at, client, network, folder, device, once, meta)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  `).get(
    file.id,
    room,
    file.blob,
    file.name,
    file.type,
    file.size,
    file.uploadedAt,
    file.owner?.client ?? null,
    file.owner?.network ?? null,
    file.folder,
    file.deviceId ?? null,
    file.once ? 1 : 0,
    file.meta ?? null,
  );
}

export function liveRoom(sql: Sql, code: RoomCode, now: number): RoomId | undefined {
  const id = roomIdOf(code);
  return sql('SELECT 1 FROM rooms WHERE id = ? AND expires_at > ?').get(id, now) && id;
}

/** Adds a file to the counts of its room. False if that would exceed the quota. */
export function countFile(sql: Sql, room: RoomId, size: number, quota: FileQuota): boolean {
  const counted = sql(`
    UPDATE rooms SET file_count = file_count + 1, file_bytes = file_bytes + ?
    WHERE id = ? AND file_count < ? AND file_bytes + ? <= ? RETURNING 1
  `).get(size, room, quota.files, size, quota.bytes);
  return counted !== undefined;
}

/**
 * Deletes files, and subtracts them from the counts of their rooms. Triggers update the usage and the trash. Returns
 * the room of each.
 */
export function dropFiles(sql: Sql, condition: string, ...values: (string | RoomId)[]): RoomCode[] {
  const dropped = sql(`
    DELETE FROM files WHERE ${condition} RETURNING size, (SELECT code FROM rooms WHERE rooms.id = room) AS code
  `).all(...values) as { size: number; code: RoomCode }[];
  for (const { size, code } of dropped) {
    sql('UPDATE rooms SET file_count = file_count - 1, file_bytes = file_bytes - ? WHERE id = ?').get(
      size,
      roomIdOf(code),
    );
  }
  return dropped.map(({ code }) => code);
}

export function nextSeq(sql: Sql, room: RoomId): Change {
  return { seq: Number(sql('UPDATE rooms SET seq = seq + 1 WHERE id = ? RETURNING seq').get(room)?.seq) };
}
