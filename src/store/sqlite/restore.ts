/** Rooms and keys of another store, written down here as they were there. Part of the writer's operations. */
import type { KeyRecord, RoomRecord, StoredFile } from '../../core/ports.ts';
import { type RoomId, roomIdOf } from './room-id.ts';
import type { Sql } from './statements.ts';
import { insertEntry, putCheckpoint, putFullText } from './text-operations.ts';

export function restoreRoom(sql: Sql, record: RoomRecord): 'restored' | 'taken' {
  const id = roomIdOf(record.code);
  const had = sql('SELECT 1 FROM rooms WHERE id = ? UNION ALL SELECT 1 FROM expired_rooms WHERE id = ?');
  if (had.get(id, id)) return 'taken';
  insertRoom(sql, id, record);
  insertText(sql, id, record);
  // In their order, which is that of their rows where they came in the same moment.
  for (const file of record.files) insertFile(sql, id, file);
  return 'restored';
}

function insertRoom(sql: Sql, id: RoomId, { content: { version, writtenAt }, files, ...room }: RoomRecord): void {
  sql(`
    INSERT INTO rooms (id, code, created_at, expires_at, pin_mac, seq, file_count, file_bytes, pin_attempts, version,
      written_at, keeps_history, revision) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  `).get(
    id,
    room.code,
    room.createdAt,
    room.expiresAt,
    room.pinMac ?? null,
    room.seq,
    files.length,
    files.reduce((sum, { size }) => sum + size, 0),
    room.pinAttempts,
    version,
    writtenAt,
    room.keepsHistory ? 1 : 0,
    room.revision,
  );
}

function insertText(sql: Sql, id: RoomId, { content, entries, history }: RoomRecord): void {
  if (content.version > 0) putFullText(sql, id, content);
  for (const entry of entries) insertEntry(sql, id, entry, JSON.stringify(entry.edits));
  for (const checkpoint of history) putCheckpoint(sql, id, checkpoint);
}

function insertFile(sql: Sql, room: RoomId, { id, blob, name, type, size, uploadedAt }: StoredFile): void {
  sql('INSERT INTO files (id, room, blob, name, type, size, uploaded_at) VALUES (?, ?, ?, ?, ?, ?, ?)').get(
    id,
    room,
    blob,
    name,
    type,
    size,
    uploadedAt,
  );
  // From a room that was here before and was deleted: its bytes are wanted again.
  sql('DELETE FROM trash WHERE blob = ?').get(blob);
}

export function restoreKey(sql: Sql, key: KeyRecord): 'restored' | 'taken' {
  const { id, hash, name, tier, createdAt, revokedAt } = key;
  if (sql('SELECT 1 FROM api_keys WHERE id = ?').get(id)) return 'taken';
  const isInForce = revokedAt === undefined;
  if (isInForce && sql('SELECT 1 FROM api_keys WHERE name = ? AND revoked_at IS NULL').get(name)) return 'taken';
  sql('INSERT INTO api_keys (id, hash, name, tier, created_at, revoked_at) VALUES (?, ?, ?, ?, ?, ?)').get(
    id,
    hash,
    name,
    tier,
    createdAt,
    revokedAt ?? null,
  );
  return 'restored';
}
