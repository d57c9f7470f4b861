/** What the embedded engine has written down: looked for in its database file. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import type { RoomCode } from '../../src/core/room-code.ts';
import { roomIdOf } from '../../src/store/sqlite/room-id.ts';
import { recordColumns } from '../../src/store/sqlite/rows.ts';
import type { Inside } from './inside.ts';

export function sqliteInside(folder: string): Inside {
  return {
    counts: async () =>
      within(folder, (db) => {
        const count = (table: string) => Number(db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.n);
        return { rooms: count('rooms'), files: count('files'), trash: count('trash') };
      }),

    pinMac: async (room) =>
      within(folder, (db) => {
        const row = db.prepare('SELECT pin_mac FROM rooms WHERE code = ?').get(room);
        return Buffer.from(row?.pin_mac as Uint8Array);
      }),

    async bytes() {
      const names = (await readdir(folder)).filter((name) => name.startsWith('poproom.db'));
      return Buffer.concat(await Promise.all(names.map((name) => readFile(join(folder, name)))));
    },

    values: async () =>
      within(folder, (db) => {
        const queries = [`SELECT ${recordColumns} FROM rooms`, 'SELECT * FROM counters'];
        const rows = queries.flatMap((query) => db.prepare(query).all());
        return JSON.stringify(rows.flatMap((row) => Object.values(row)).filter((it) => !(it instanceof Uint8Array)));
      }),

    rename: async (from, to) =>
      within(
        folder,
        (db) =>
          void db.prepare('UPDATE rooms SET id = ?, code = ? WHERE code = ?').run(roomIdOf(to as RoomCode), to, from),
      ),

    writeSecond: async (room, content) =>
      within(
        folder,
        (db) => void db.prepare('UPDATE rooms SET content = ?, version = 2, seq = 2 WHERE code = ?').run(content, room),
      ),

    async spoil() {
      await loseTables(folder, 'rooms');
      return 'no such table';
    },
  };
}

/** Takes tables away from under a running server, which may look at what was there for another tenth of a second. */
export async function loseTables(folder: string, ...tables: string[]): Promise<void> {
  within(folder, (db) => {
    for (const table of tables) db.exec(`ALTER TABLE ${table} RENAME TO lost_${table}`);
  });
  await setTimeout(200);
}

function within<T>(folder: string, work: (db: DatabaseSync) => T): T {
  const db = new DatabaseSync(join(folder, 'poproom.db'), { timeout: 5000 });
  try {
    return work(db);
  } finally {
    db.close();
  }
}
