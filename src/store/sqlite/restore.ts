/** Rooms and keys of another store, written down here as they were there. Part of the writer's operations. */
import type { StatementSync } from 'node:sqlite';
import type { KeyRecord, RoomRecord, StoredFile } from '../../core/ports.ts';

type Sql = (query: string) => StatementSync;

export function restoreRoom(sql: Sql, record: RoomRecord): 'restored' | 'taken' {
  const { code, files } = record;
  const had = sql('SELECT 1 FROM rooms WHERE code = ? UNION ALL SELECT 1 FROM expired_rooms WHERE code = ?');
  if (had.get(code, code)) return 'taken';
  insertRoom(sql, record);
  // In their order, which is that of their rows where they came in the same moment.
  for (const file of files) insertFile(sql, code, file);
  return 'restored';
}

function insertRoom(sql: Sql, { content: { content, version, writtenAt }, files, ...room }: RoomRecord): void {
  sql(`
    INSERT INTO rooms (code, created_at, expires_at, pin_mac, seq, file_count, file_bytes, pin_attempts, version,
      written_at, content) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  `).run(
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
    content,
  );
}

function insertFile(sql: Sql, code: string, { id, blob, name, type, size, uploadedAt }: StoredFile): void {
  sql('INSERT INTO files (id, code, blob, name, type, size, uploaded_at) VALUES (?, ?, ?, ?, ?, ?, ?)').run(
    id,
    code,
    blob,
    name,
    type,
    size,
    uploadedAt,
  );
  // From a room that was here before and was deleted: its bytes are wanted again.
  sql('DELETE FROM trash WHERE blob = ?').run(blob);
}

export function restoreKey(sql: Sql, key: KeyRecord): 'restored' | 'taken' {
  const { id, hash, name, tier, createdAt, revokedAt } = key;
  if (sql('SELECT 1 FROM api_keys WHERE id = ?').get(id)) return 'taken';
  const isInForce = revokedAt === undefined;
  if (isInForce && sql('SELECT 1 FROM api_keys WHERE name = ? AND revoked_at IS NULL').get(name)) return 'taken';
  sql('INSERT INTO api_keys (id, hash, name, tier, created_at, revoked_at) VALUES (?, ?, ?, ?, ?, ?)').run(
    id,
    hash,
    name,
    tier,
    createdAt,
    revokedAt ?? null,
  );
  return 'restored';
}
