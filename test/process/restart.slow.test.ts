/** Counters across restarts: a client gains nothing from a restart, and little from a crash. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { dataFolder, type ServerProcess, startProcess } from '../support/process.ts';

const env = { POPROOM_FREE_LIMIT: '60' };

/** A counter is written within a second; the rest is for a machine that is busy. */
const writtenWithinMs = 1000 + 14_000;

describe('the counters', () => {
  it('[RATE-6] [GUESS-5] survive a clean restart exactly', async (t) => {
    const folder = await dataFolder(t);
    const before = await startProcess(t, folder, env);
    const room = await useSome(before);
    await before.end('SIGTERM');

    const after = await startProcess(t, folder, env);
    await assertAllRemembered(after, room);
  });

  it('[RATE-6] [GUESS-5] survive a crash up to the last second', async (t) => {
    const folder = await dataFolder(t);
    const before = await startProcess(t, folder, env);
    const room = await useSome(before);
    const remaining = await left(before);
    await eventually('the counters are written', () => written(folder, 60 - remaining), writtenWithinMs);
    await before.end('SIGKILL');

    const after = await startProcess(t, folder, env);
    await assertAllRemembered(after, room, 1);
  });
});

/** Ten requests: three wrong PINs and two unknown codes among them. */
async function useSome({ api }: ServerProcess): Promise<string> {
  const room = await api.room({ pin: '0427' });
  for (let i = 0; i < 3; i++)
    assert.equal((await api.get(`/api/rooms/${room}`, { pin: '9999' })).code, 'PIN_INCORRECT');
  for (let i = 0; i < 2; i++) assert.equal((await api.get('/api/rooms/000000')).code, 'ROOM_NOT_FOUND');
  for (let i = 0; i < 4; i++) await api.get('/api/health');
  return room;
}

async function assertAllRemembered({ api }: ServerProcess, room: string, requestsSince = 0): Promise<void> {
  const fourth = await api.get(`/api/rooms/${room}`, { pin: '9999' });
  assert.equal(fourth.headers.get('x-ratelimit-remaining'), String(60 - 10 - requestsSince - 1));
  assert.deepEqual([fourth.code, fourth.json.error.details.triesLeft], ['PIN_INCORRECT', 1]);
  assert.equal((await api.get(`/api/rooms/${room}`, { pin: '9999' })).json.error.details.lockedFor, 30);
  assert.equal((await api.get(`/api/rooms/${room}`, { pin: '0427' })).code, 'PIN_LOCKED');

  // Seven misses so far: thirteen more are allowed.
  for (let i = 0; i < 13; i++) assert.equal((await api.get('/api/rooms/000000')).code, 'ROOM_NOT_FOUND');
  assert.equal((await api.get('/api/rooms/000000')).code, 'RATE_LIMITED');
}

async function left({ api }: ServerProcess): Promise<number> {
  return Number((await api.get('/api/health')).headers.get('x-ratelimit-remaining'));
}

/** Looks into the database as a backup would. */
function written(folder: string, used: number): boolean {
  const db = new DatabaseSync(join(folder, 'poproom.db'), { readOnly: true });
  try {
    const row = db.prepare("SELECT state FROM counters WHERE kind = 'rate' AND key = '127.0.0.1'").get();
    return row !== undefined && JSON.parse(String(row.state)).used === used;
  } finally {
    db.close();
  }
}
