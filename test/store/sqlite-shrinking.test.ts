/** The size of the database file after many rooms have ended. */
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import type { RoomCode } from '../../src/core/room-code.ts';
import { day, draft, start, textOf, writeText } from '../contract/store-under-test.ts';
import { eventually } from '../support/eventually.ts';
import { openStore, temporaryFolder } from './open-sqlite.ts';

const wave = 1500;

describe('the database file', () => {
  it('[OPS-6] shrinks after a wave of rooms, stays intact, and keeps the rooms that are left', async (t) => {
    const folder = await temporaryFolder(t);
    const store = await openStore(t, folder, { eraseEveryMs: 50 });
    const { rooms } = store;
    const size = () => statSync(join(folder, 'poproom.db')).size;
    const create = async (expiresAt: number) => {
      const code = (await rooms.createRoom(draft({ expiresAt }))) as RoomCode;
      await writeText(store.texts, code, `${code} `.repeat(400));
      return code;
    };
    await Promise.all(Array.from({ length: wave }, () => create(start + day)));
    // They are at the end of the file, so their pages have to move.
    const kept = await Promise.all(Array.from({ length: 20 }, () => create(start + 3 * day)));
    await eventually('the WAL is in the file', () => size() > 4_000_000);
    while ((await rooms.expireRooms(start + 2 * day, 500)).length === 500);
    // From 6 to 7 MB. Up to 1024 free pages of 2 KiB may stay for the next rooms, if the rooms ended in several steps.
    await eventually('the file has shrunk', () => size() < 2_500_000);
    const db = new DatabaseSync(join(folder, 'poproom.db'), { readOnly: true });
    t.after(() => db.close());
    assert.equal(db.prepare('PRAGMA integrity_check').get()?.integrity_check, 'ok');
    for (const code of kept) assert.equal((await textOf(rooms, code))?.content, `${code} `.repeat(400));
  });
});
