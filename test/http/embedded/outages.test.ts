/** The log while a store does not respond. */
import assert from 'node:assert/strict';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { embeddedSettings } from '../../support/engine.ts';
import { eventually } from '../../support/eventually.ts';
import { startTestServer } from '../../support/server.ts';

describe('a lost store', () => {
  it('[OPS-11] is logged once, and once when it is back, without a stack for each request', async (t) => {
    const server = await startTestServer(t, { ...embeddedSettings, POPROOM_FREE_LIMIT: '0' }, { outageCheckMs: 20 });
    const { api, folder, logged } = server;
    const lines = (message: string) =>
      logged()
        .split('\n')
        .filter((line) => line.includes(`"message":"${message}"`));
    const room = await api.room();
    await rename(join(folder, 'files'), join(folder, 'moved'));
    for (let i = 0; i < 3; i++) assert.ok((await api.upload(room, 'a.txt', 'abc')).status >= 500);
    await eventually('the loss is logged', () => lines('store lost').length > 0);
    server.clock.advance(4200);
    await rename(join(folder, 'moved'), join(folder, 'files'));
    await eventually('the return is logged', () => lines('store responds again').length > 0);
    assert.equal(lines('store lost').length, 1);
    assert.match(lines('store lost')[0] ?? '', /"level":"error".*"store":"files","reason":"/);
    assert.match(lines('store responds again')[0] ?? '', /"store":"files","seconds":4\.2/);
    assert.equal((await api.upload(room, 'a.txt', 'abc')).status, 201);
  });
});
