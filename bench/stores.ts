/** Writes rooms directly to a store, because creating a million rooms by requests would take an hour. */
import { DatabaseSync } from 'node:sqlite';
import { createClient } from '@redis/client';
import { drawSymbols, type RoomCode } from '../src/core/room-code.ts';
import { createKeys } from '../src/store/redis/keys.ts';
import { roomIdOf } from '../src/store/sqlite/cache.ts';

const text = 'x'.repeat(100);
const dayMs = 86_400_000;

export const drawCodes = (count: number): RoomCode[] =>
  Array.from({ length: count }, () => drawSymbols().slice(0, 10) as RoomCode);

export function fillSqlite(file: string, codes: readonly RoomCode[], expiresAt = Date.now() + dayMs): void {
  // A running server may be writing.
  const db = new DatabaseSync(file, { timeout: 30_000 });
  const now = Date.now();
  const insertRoom = db.prepare(
    'INSERT INTO rooms (id, code, created_at, expires_at, written_at, version, seq) VALUES (?, ?, ?, ?, ?, 1, 1)',
  );
  const insertText = db.prepare('INSERT INTO texts (room, version, content) VALUES (?, 1, ?)');
  db.exec('BEGIN');
  for (const code of codes) {
    const id = roomIdOf(code);
    insertRoom.run(id, code, now, expiresAt, now);
    insertText.run(id, text);
  }
  db.exec('COMMIT');
  db.close();
}

export async function fillRedis(
  url: string,
  codes: readonly RoomCode[],
  expiresAt = Date.now() + dayMs,
): Promise<void> {
  const client = createClient({ url });
  await client.connect();
  const keys = createKeys('pop');
  const now = Date.now();
  const times = { createdAt: now, expiresAt, writtenAt: now };
  const room = { ...times, pinMac: '', seq: 1, version: 1, content: text, fileCount: 0, fileBytes: 0, pinAttempts: 0 };
  for (let at = 0; at < codes.length; at += 2_000) {
    const batch = codes.slice(at, at + 2_000);
    await Promise.all(batch.map((code) => client.hSet(keys.ofRoom(code).room, room)));
    await client.zAdd(
      keys.rooms,
      batch.map((value) => ({ value, score: expiresAt })),
    );
  }
  client.destroy();
}
