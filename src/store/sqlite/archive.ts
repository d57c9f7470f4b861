/** Rooms and keys on SQLite in full, for migration. */
import type { Archive, RoomRecord } from '../../core/ports.ts';
import type { RoomCode } from '../../core/room-code.ts';
import { roomIdOf } from './room-id.ts';
import type { RoomStoreParts } from './room-store.ts';
import { fileColumns, fileOf, isListed, keyOf, ownerColumns, type RecordRow, recordColumns, recordOf } from './rows.ts';
import { prepareOnce } from './statements.ts';
import { createTextReader } from './text-reader.ts';

export type ArchiveParts = Pick<RoomStoreParts, 'db' | 'snapshot' | 'writer' | 'guard'>;

const batchSize = 500;

export function createArchive({ db, snapshot, writer, guard }: ArchiveParts): Archive {
  const sql = prepareOnce(db);
  const texts = createTextReader(sql);

  function codesAfter(last: RoomCode | undefined, now: number): RoomCode[] {
    const rows = sql('SELECT code FROM rooms WHERE id > ? AND expires_at > ? ORDER BY id LIMIT ?');
    return rows.all(last ? roomIdOf(last) : 0, now, batchSize).map(({ code }) => code as RoomCode);
  }

  function readRoom(code: RoomCode, now: number): RoomRecord | undefined {
    const id = roomIdOf(code);
    const query = `SELECT ${recordColumns}, ${ownerColumns} FROM rooms WHERE id = ? AND expires_at > ?`;
    const row = sql(query).get(id, now) as RecordRow | undefined;
    if (!row) return undefined;
    const { content, fullTextVersion, isEncrypted, lastRefs } = texts.readText(id, row);
    const entries = texts.readLog(id);
    const history = texts.readHistory(id);
    const files = sql(
      `SELECT ${fileColumns} FROM files WHERE room = ? AND ${isListed} ORDER BY uploaded_at, rowid`,
    ).all(id);
    const trusted = guard.trusted(code, now);
    const sealed = isEncrypted && { fullTextVersion };
    return { ...recordOf(row), content, ...sealed, entries, lastRefs, history, files: files.map(fileOf), trusted };
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
      const outcome = await writer.run('restoreRoom', record);
      if (outcome === 'restored') for (const client of record.trusted) guard.trust(record, client, now);
      return outcome;
    },

    async keys() {
      const rows = sql('SELECT * FROM api_keys ORDER BY created_at, id').all();
      return rows.map((row) => ({ ...keyOf(row), hash: String(row.hash) }));
    },

    restoreKey: (key) => writer.run('restoreKey', key),
  };
}
