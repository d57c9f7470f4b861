/** Rooms and keys on SQLite in full, for migration. */
import type { Archive, KeyRecord, RoomRecord } from '../../core/ports/store.ts';
import type { RoomCode } from '../../core/room-code.ts';
import type { GuessGuard } from './access.ts';
import { createdByOf, ownerColumns, type RecordRow, type RoomId, recordColumns, recordOf, roomIdOf } from './cache.ts';
import { insertKey, keyColumns } from './clients.ts';
import { insert, rowsOf, type Sql } from './database.ts';
import { filesOf, insertFile } from './files.ts';
import { insertLink, linksOf } from './links.ts';
import { rowOfNew } from './rooms.ts';
import { createTextReader, entrySize, insertEntry, putCheckpoint, putFullText } from './text.ts';
import { insertWebhooks, readWebhooks } from './webhooks.ts';
import type { OpenedDatabase } from './writer.ts';

const batchSize = 500;

export function createArchive({ sql, snapshot, writer }: OpenedDatabase, guard: GuessGuard): Archive {
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
    const files = filesOf(sql, code, now);
    const trusted = guard.trusted(code, now);
    const webhooks = readWebhooks(sql, code, now);
    const more = { ...(isEncrypted && { fullTextVersion }), ...createdByOf(row), ...(webhooks && { webhooks }) };
    const rest = { files, trusted, links: linksOf(sql, id) };
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

    readRoom: async (code, now) => snapshot.within(() => readRoom(code, now)),

    async restoreRoom(record, now) {
      const outcome = await writer.run(restoreRoom, record);
      if (outcome === 'restored') for (const client of record.trusted) guard.trust(record, client, now);
      return outcome;
    },

    keys: async () => rowsOf(sql, `SELECT ${keyColumns}, hash FROM api_keys ORDER BY created_at, id`),
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

function insertRoom(sql: Sql, id: RoomId, room: RoomRecord): void {
  insert(sql, 'rooms', {
    ...rowOfNew(room.code, room),
    seq: room.seq,
    file_count: room.files.length,
    file_bytes: room.files.reduce((sum, { size }) => sum + size, 0),
    pin_attempts: room.pinAttempts,
    version: room.content.version,
    written_at: room.content.writtenAt,
    revision: room.revision,
    text_charge: room.textCharge === undefined ? null : 0,
  });
  // An update, so that the trigger counts it.
  if (room.textCharge) sql('UPDATE rooms SET text_charge = ? WHERE id = ?').get(room.textCharge, id);
}

function insertText(sql: Sql, id: RoomId, { content, fullTextVersion, entries, lastRefs, history }: RoomRecord): void {
  const version = fullTextVersion ?? content.version;
  if (version > 0) putFullText(sql, id, { version, content: content.content, lastRefs });
  for (const entry of entries) insertEntry(sql, id, entry, JSON.stringify(entry.edits));
  const logBytes = `SELECT ifnull(sum(${entrySize}), 0) FROM edits WHERE room = ?1`;
  sql(`UPDATE rooms SET log_bytes = (${logBytes}) WHERE id = ?1`).get(id);
  for (const checkpoint of history) putCheckpoint(sql, id, checkpoint);
}

export function restoreKey(sql: Sql, key: KeyRecord): 'restored' | 'taken' {
  if (sql('SELECT 1 FROM api_keys WHERE id = ?').get(key.id)) return 'taken';
  return insertKey(sql, key) ? 'restored' : 'taken';
}
