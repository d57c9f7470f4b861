/** A public demonstration: short rooms, small files, and nothing for search engines. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertError } from '../support/assert-error.ts';
import { sharedServer, startTestServer } from '../support/server.ts';

const minute = 60_000;

describe('a demonstration', () => {
  it('[DEMO-1] [DEMO-2] ends rooms after 15 minutes, however often they are extended, and takes small files', async (t) => {
    const { api, clock } = await startTestServer(t, { POPROOM_DEMO: 'true' });
    const end = new Date(clock.now + 15 * minute).toISOString();
    const { json: limits } = await api.get('/api/limits');
    assert.partialDeepStrictEqual(limits, {
      demo: true,
      roomLifetimeSeconds: 900,
      roomMaxLifetimeSeconds: 900,
      textBytes: 64 * 1024,
      fileBytes: 1024 ** 2,
      filesPerRoom: 10,
      fileBytesPerRoom: 5 * 1024 ** 2,
      storedBytesPerAddress: 20 * 1024 ** 2,
    });
    assertError(await api.post('/api/rooms', { json: { expiresIn: 901 } }), 400, 'VALIDATION_FAILED');
    const room = await api.room();
    const { roomId: used } = (await api.post('/api/rooms', { json: { expiresIn: 600, extend: true } })).json;
    assertError(await api.upload(room, 'a.bin', Buffer.alloc(1024 ** 2 + 1)), 413, 'FILE_TOO_LARGE');

    clock.advance(9 * minute);
    const extended = await api.patch(`/api/rooms/${room}`, { json: { expiresIn: 900 } });
    assert.deepEqual([extended.status, extended.json.expiresAt], [200, end]);
    await api.post(`/api/rooms/${used}/content`, { json: { content: 'x' } });
    assert.equal((await api.get(`/api/rooms/${used}`)).json.expiresAt, end);
    assert.equal((await api.patch(`/api/rooms/${room}`, { json: { expiresIn: 60 } })).json.expiresAt < end, true);
    clock.advance(6 * minute);
    for (const ended of [room, used]) assertError(await api.get(`/api/rooms/${ended}`), 410, 'ROOM_EXPIRED');
  });

  it('[DEMO-4] keeps search engines away, and other servers do not', async (t) => {
    const { api } = await startTestServer(t, { POPROOM_DEMO: 'true' });
    const room = await api.room();
    for (const path of ['/', '/docs', `/r/${room}`, '/api/limits', '/api/nothing', '/assets/icon.svg'])
      assert.equal((await api.get(path)).headers.get('x-robots-tag'), 'noindex', path);
    const robots = await api.get('/robots.txt');
    assert.deepEqual([robots.status, robots.text], [200, 'User-agent: *\nDisallow: /\n']);

    const other = await sharedServer(t);
    assert.equal((await other.api.get('/robots.txt')).text, 'User-agent: *\nDisallow: /api/\n');
    assert.equal((await other.api.get('/')).headers.get('x-robots-tag'), null);
    assert.equal((await other.api.get('/api/limits')).json.demo, false);
  });
});
