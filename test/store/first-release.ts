/** Creates a database like the first release did. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { RoomCode } from '../../src/core/room-code.ts';
import { roomIdOf } from '../../src/store/sqlite/cache.ts';
import { steps } from '../../src/store/sqlite/schema.ts';
import { hour, start } from '../contract/store-under-test.ts';

/** The number of the first schema that was released. */
export const firstRelease = 2;

export type InsertRoom = (code: RoomCode, version: number, content: string, pinMac?: Uint8Array) => void;

export function makeFirstRelease(folder: string, fill: (insert: InsertRoom, db: DatabaseSync) => void): void {
  const db = new DatabaseSync(join(folder, 'poproom.db'));
  db.exec(`PRAGMA journal_mode = WAL; ${steps[0]}; PRAGMA user_version = ${firstRelease}`);
  const columns = 'id, code, created_at, expires_at, pin_mac, seq, version, written_at, content';
  const insert = db.prepare(`INSERT INTO rooms (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  fill((code, version, content, pinMac) => {
    insert.get(roomIdOf(code), code, start, start + hour, pinMac ?? null, version, version, start, content);
  }, db);
  db.close();
}
