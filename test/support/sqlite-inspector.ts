/** Inspects the data of the embedded engine in its database file. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import type { RoomCode } from '../../src/core/room-code.ts';
import { recordColumns, roomIdOf } from '../../src/store/sqlite/cache.ts';
import { decompress } from '../../src/store/sqlite/text.ts';
import type { StoreInspector } from './store-inspector.ts';

export function sqliteInspector(folder: string): StoreInspector {
  return {
    counts: async () =>
      withDatabase(folder, (db) => {
        const count = (table: string) => Number(db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.n);
        return { rooms: count('rooms'), files: count('files'), trash: count('trash') };
      }),

    pinMac: async (room) =>
      withDatabase(folder, (db) => {
        const row = db.prepare('SELECT pin_mac FROM rooms WHERE code = ?').get(room);
        return Buffer.from(row?.pin_mac as Uint8Array);
      }),

    async bytes() {
      const names = (await readdir(folder)).filter((name) => name.startsWith('poproom.db'));
      return Buffer.concat(await Promise.all(names.map((name) => readFile(join(folder, name)))));
    },

    values: async () =>
      withDatabase(folder, (db) => {
        const queries = [
          `SELECT ${recordColumns} FROM rooms`,
          'SELECT version, content FROM texts',
          'SELECT version, written_at, device, ref, edits FROM edits',
          'SELECT version, written_at, device, size, content FROM history',
          'SELECT * FROM counters',
        ];
        const rows = queries.flatMap((query) => db.prepare(query).all()).map(readable);
        return JSON.stringify(rows.flatMap((row) => Object.values(row)).filter((it) => !(it instanceof Uint8Array)));
      }),

    changeCode: async (from, to) =>
      withDatabase(folder, (db) => {
        const [before, after] = [roomIdOf(from as RoomCode), roomIdOf(to as RoomCode)];
        db.exec('BEGIN; PRAGMA defer_foreign_keys = ON');
        db.prepare('UPDATE rooms SET id = ?, code = ? WHERE id = ?').run(after, to, before);
        for (const table of ['texts', 'edits', 'history', 'files']) {
          db.prepare(`UPDATE ${table} SET room = ? WHERE room = ?`).run(after, before);
        }
        db.exec('COMMIT');
      }),

    writeSecondText: async (room, content) =>
      withDatabase(folder, (db) => {
        const id = roomIdOf(room as RoomCode);
        db.exec('BEGIN');
        db.prepare('UPDATE rooms SET version = 2, seq = 2 WHERE id = ?').run(id);
        db.prepare('INSERT OR REPLACE INTO texts (room, version, content) VALUES (?, 2, ?)').get(id, content);
        // Readers that have the first text get the whole second one.
        db.prepare('DELETE FROM edits WHERE room = ?').run(id);
        db.exec('COMMIT');
      }),

    async corrupt() {
      await removeTables(folder, 'rooms');
      return 'no such table';
    },
  };
}

function readable(row: Record<string, unknown>): Record<string, unknown> {
  return row.content instanceof Uint8Array ? { ...row, content: decompress(row.content) } : row;
}

/** Renames tables of a running server, and waits, because it may use its read snapshot for another 100 ms. */
export async function removeTables(folder: string, ...tables: string[]): Promise<void> {
  withDatabase(folder, (db) => {
    for (const table of tables) db.exec(`ALTER TABLE ${table} RENAME TO removed_${table}`);
  });
  await setTimeout(200);
}

function withDatabase<T>(folder: string, work: (db: DatabaseSync) => T): T {
  const db = new DatabaseSync(join(folder, 'poproom.db'), { timeout: 5000 });
  try {
    return work(db);
  } finally {
    db.close();
  }
}
