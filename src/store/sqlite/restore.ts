/** Restores rooms and keys of another store. Part of the writer's operations. */
import type { KeyRecord, RoomRecord } from '../../core/ports.ts';
import { entrySize } from './edit-log.ts';
import { insertFile } from './file-operations.ts';
import { type RoomId, roomIdOf } from './room-id.ts';
import type { Sql } from './statements.ts';
import { insertEntry, putCheckpoint, putFullText } from './text-operations.ts';

export function restoreRoom(sql: Sql, record: RoomRecord): 'restored' | 'taken' {
  const id = roomIdOf(record.code);
  const had = sql('SELECT 1 FROM rooms WHERE id = ? UNION ALL SELECT 1 FROM expired_rooms WHERE id = ?');
  if (had.get(id, id)) return 'taken';
  insertRoom(sql, id, record);
  insertText(sql, id, record);
  // In order: files of the same moment are sorted by row.
  for (const file of record.files) {
    insertFile(sql, id, file);
    // The file may be from a room that was deleted here before. Its bytes are needed again.
    sql('DELETE FROM trash WHERE blob = ?').get(file.blob);
  }
  return 'restored';
}

function insertRoom(sql: Sql, id: RoomId, { content: { version, writtenAt }, files, ...room }: RoomRecord): void {
  sql(`
    INSERT INTO rooms (id, code, created_at, expires_at, pin_mac, seq, file_count, file_bytes, pin_attempts, version,
      written_at, keeps_history, revision, client, network, text_charge, name, salt)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
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
    room.owner?.client ?? null,
    room.owner?.network ?? null,
    room.textCharge === undefined ? null : 0,
    room.name ?? null,
    room.salt ?? null,
  );
  // An update, so that the trigger counts it.
  if (room.textCharge) sql('UPDATE rooms SET text_charge = ? WHERE id = ?').get(room.textCharge, id);
}

function insertText(sql: Sql, id: RoomId, { content, fullTextVersion, entries, lastRefs, history }: RoomRecord): void {
  const version = fullTextVersion ?? content.version;
  if (version > 0) putFullText(sql, id, { version, content: content.content, lastRefs });
  for (const entry of entries) insertEntry(sql, id, entry, JSON.stringify(entry.edits));
  sql(
    `UPDATE rooms SET log_bytes = (SELECT ifnull(sum(${entrySize}), 0) FROM edits WHERE room = ?1) WHERE id = ?1`,
  ).get(id);
  for (const checkpoint of history) putCheckpoint(sql, id, checkpoint);
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
