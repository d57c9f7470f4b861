/** Acknowledged data is present on every node, and after Redis is killed. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventually } from '../../support/eventually.ts';
import { startOwnStores } from '../../support/own-stores.ts';
import { startTestServer } from '../../support/server.ts';

const unlimited = { POPROOM_FREE_LIMIT: '0' };

describe('an acknowledged write', { timeout: 60_000 }, () => {
  it('[TEXT-6] [LIFE-6] is present when Redis, with appendfsync always, is killed after it', async (t) => {
    const { redis, settings, stop } = await startOwnStores(['--appendonly', 'yes', '--appendfsync', 'always']);
    const { api } = await startTestServer(t, { ...settings, ...unlimited });
    t.after(stop);
    const room = await api.room({ pin: '0427' });
    const path = `/api/rooms/${room}/content`;
    const { fileUrl } = (await api.upload(room, 'a.txt', 'abc', { pin: '0427' })).json;
    for (let round = 1; round <= 3; round++) {
      const content = `text ${round}`;
      assert.equal((await api.post(path, { json: { content }, pin: '0427' })).status, 200);
      redis.signal('SIGKILL');
      await redis.restart();
      const read = await eventually('it serves again', async () => {
        const response = await api.get(path, { pin: '0427' });
        return response.status === 200 && response;
      });
      assert.deepEqual([read.json.content, read.headers.get('etag')], [content, `"${round}"`]);
      assert.equal((await api.get(fileUrl)).text, 'abc');
    }
  });

  it('[TEXT-6] [UP-7] is present on every node immediately, and on one that starts later', async (t) => {
    const { settings, stop } = await startOwnStores();
    const [one, other] = [await startTestServer(t, settings), await startTestServer(t, settings)];
    t.after(stop);
    const room = await one.api.room({ pin: '0427' });
    const path = `/api/rooms/${room}/content`;
    await one.api.post(path, { json: { content: 'said to one' }, pin: '0427' });
    const { fileUrl } = (await one.api.upload(room, 'a.txt', 'abc', { pin: '0427' })).json;
    await one.stop();
    const later = await startTestServer(t, settings);
    for (const { api } of [other, later]) {
      assert.equal((await api.get(path, { pin: '0427' })).json.content, 'said to one');
      assert.equal((await api.get(new URL(fileUrl).pathname)).text, 'abc');
    }
  });
});
