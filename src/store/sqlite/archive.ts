/** Rooms and keys as they are kept on SQLite, for moving them. */
import type { DatabaseSync } from 'node:sqlite';
import type { Archive, RoomRecord } from '../../core/ports.ts';
import type { RoomCode } from '../../core/room-code.ts';
import type { GuessGuard } from './guess-guard.ts';
import { prepareOnce } from './operations.ts';
import { fileOf, keyOf, recordOf } from './rows.ts';
import type { Writer } from './writer.ts';

const portion = 500;

export function createArchive(db: DatabaseSync, writer: Writer, guard: GuessGuard): Archive {
  const sql = prepareOnce(db);

  function codesAfter(last: string, now: number): RoomCode[] {
    const rows = sql('SELECT code FROM rooms WHERE code > ? AND expires_at > ? ORDER BY code LIMIT ?');
    return rows.all(last, now, portion).map(({ code }) => code as RoomCode);
  }

  function readRoom(code: RoomCode, now: number): RoomRecord | undefined {
    const row = sql('SELECT * FROM rooms WHERE code = ? AND expires_at > ?').get(code, now);
    if (!row) return undefined;
    const files = sql('SELECT * FROM files WHERE code = ? ORDER BY uploaded_at, rowid').all(code);
    return { ...recordOf(row), files: files.map(fileOf), trusted: guard.trusted(code, now) };
  }

  return {
    async *codes(now) {
      let last = '';
      for (;;) {
        const codes = codesAfter(last, now);
        yield* codes;
        if (codes.length < portion) return;
        last = codes.at(-1) as string;
      }
    },

    async readRoom(code, now) {
      db.exec('BEGIN');
      try {
        return readRoom(code, now);
      } finally {
        db.exec('COMMIT');
      }
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
