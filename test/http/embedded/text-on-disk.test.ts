/** The text of a room in the database file of the embedded engine. */
import assert from 'node:assert/strict';
import { copyFile, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { replay } from '../../../src/text/document.ts';
import { embeddedSettings } from '../../support/engine.ts';
import { startTestServer } from '../../support/server.ts';

describe('a text', () => {
  it('[TEXT-6] is on disk when its write is acknowledged: a copy of the files contains it', async (t) => {
    // An erasure between the copies of two files would move text from one to the other.
    const eraseEveryMs = 3600_000;
    const env = { ...embeddedSettings, POPROOM_FREE_LIMIT: '0' };
    const { api, folder } = await startTestServer(t, env, { eraseEveryMs });
    const copy = await mkdtemp(join(tmpdir(), 'poproom-copy-'));
    t.after(() => rm(copy, { recursive: true }));
    const room = await api.room();
    for (let write = 0; write < 20; write++) {
      await api.post(`/api/rooms/${room}/content`, { json: { content: `text ${write}` } });
      const names = (await readdir(folder)).filter((name) => /^poproom\.db(-wal)?$/.test(name));
      for (const name of names) await copyFile(join(folder, name), join(copy, name));
      assert.equal(contentIn(copy, room), `text ${write}`);
    }
  });
});

function contentIn(folder: string, room: string): string {
  const db = new DatabaseSync(join(folder, 'poproom.db'));
  const ofRoom = (columns: string, table: string) =>
    db.prepare(`SELECT ${columns} FROM ${table} WHERE room = (SELECT id FROM rooms WHERE code = ?)`).all(room);
  const [fullText] = ofRoom('version, content', 'texts');
  const since = Number(fullText?.version ?? 0);
  const log = ofRoom('version, edits', 'edits').filter(({ version }) => Number(version) > since);
  db.close();
  return replay(
    String(fullText?.content ?? ''),
    log.map(({ edits }) => JSON.parse(String(edits))),
  );
}
