/** Rooms and keys on SQLite in full, for migration. */
import type { Archive, KeyRecord, RoomRecord } from '../../core/ports/store.ts';
import type { RoomCode } from '../../core/room-code.ts';
import { createdByOf, ownerColumns, type RecordRow, type RoomId, recordColumns, recordOf, roomIdOf } from './cache.ts';
import { keyOf } from './clients.ts';
import { prepareOnce, type Sql } from './database.ts';
import { fileColumns, fileOf, insertFile, isListed } from './files.ts';
import { insertLink, linksOf } from './links.ts';
import type { RoomStoreDeps } from './rooms.ts';
import { createTextReader, entrySize, insertEntry, putCheckpoint, putFullText } from './text.ts';
import { insertWebhooks, readWebhooks } from './webhooks.ts';

type ArchiveDeps = Pick<RoomStoreDeps, 'db' | 'snapshot' | 'writer' | 'guard'>;

const batchSize = 500;

export function createArchive({ db, snapshot, writer, guard }: ArchiveDeps): Archive {
  const sql = prepareOnce(db);
  const texts = createTextReader(sql);

  function codesAfter(last: RoomCode | undefined, now: number): RoomCode[] {
    const rows = sql('SELECT code FROM rooms WHERE id > ? AND expires_at > ? ORDER BY id LIMIT ?');
    return rows.all(last ? roomIdOf(last) : 0, now, batchSize).map(({ code }) => code as RoomCode);
  }

  function readRoom(code: RoomCode, now: number): RoomRecord | undefined {
    const id = roomIdOf(code);
    const query = `SELECT ${recordColumns}, ${ownerColumns}, created_by FROM rooms WHERE id = ? AND expires_at > ?`;
    const row = sql(query).get(id, now) as RecordRow | undefined;
    if (!row) return undefined;
    const { content, fullTextVersion, isEncrypted, lastRefs } = texts.readText(id, row);
    const entries = texts.readLog(id);
    const history = texts.readHistory(id);
    const files = sql(
      `SELECT ${fileColumns} FROM files WHERE room = ? AND ${isListed} ORDER BY uploaded_at, rowid`,
    ).all(id);
    const trusted = guard.trusted(code, now);
    const webhooks = readWebhooks(sql, code, now);
    const more = { ...(isEncrypted && { fullTextVersion }), ...createdByOf(row), ...(webhooks && { webhooks }) };
    const rest = { files: files.map(fileOf), trusted, links: linksOf(sql, id) };
    return { ...recordOf(row), content, ...more, entries, lastRefs, history, ...rest };
  }

  return {
    async *codes(now) {
      let last: RoomCode | undefined;
      for (;;) {
        const codes = codesAfter(last, now);
        yield* codes;
        if (codes.length < batchSize) return;
        last = codes.at(-1);
      }
    },

    async readRoom(code, now) {
      return snapshot.within(() => readRoom(code, now));
    },

    async restoreRoom(record, now) {
      const outcome = await writer.run(restoreRoom, record);
      if (outcome === 'restored') for (const client of record.trusted) guard.trust(record, client, now);
      return outcome;
    },

    async keys() {
      const rows = sql('SELECT * FROM api_keys ORDER BY created_at, id').all();
      return rows.map((row) => ({ ...keyOf(row), hash: String(row.hash) }));
    },

    restoreKey: (key) => writer.run(restoreKey, key),
  };
}

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
  if (record.webhooks) insertWebhooks(sql, record, record.webhooks);
  for (const link of record.links) insertLink(sql, id, link);
  return 'restored';
}

function insertRoom(sql: Sql, id: RoomId, { content: { version, writtenAt }, files, ...room }: RoomRecord): void {
  sql(`
    INSERT INTO rooms (id, code, created_at, expires_at, pin_mac, seq, file_count, file_bytes, pin_attempts, version,
      written_at, keeps_history, revision, client, network, text_charge, name, salt, created_by, extend_ms)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
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
    room.createdBy ?? null,
    room.extendMs ?? null,
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
