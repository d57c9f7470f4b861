/** Rooms that stay: for years, or as long as they are used. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createClient } from '../../src/client/index.ts';
import { assertError } from '../support/assert-error.ts';
import { joinRoom } from '../support/device.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const [minute, day] = [60_000, 86_400_000];

const isoIn = ({ clock }: TestServer, ms: number) => new Date(clock.now + ms).toISOString();

describe('a room that stays', () => {
  it('[STAY-1] lasts for years if the operator allows it', async (t) => {
    const server = await startTestServer(t, { POPROOM_ROOM_MAX_TTL: '3650d' });
    const { api, clock } = server;
    const tooLong = await api.post('/api/rooms', { json: { expiresIn: 3650 * 86_400 + 1 } });
    assert.equal(assertError(tooLong, 400, 'VALIDATION_FAILED').maximum, 3650 * 86_400);
    const room = await api.room({ expiresIn: 3650 * 86_400 });
    await api.post(`/api/rooms/${room}/content`, { json: { content: 'still here' } });
    assert.equal((await api.get(`/api/rooms/${room}`)).json.expiresAt, isoIn(server, 3650 * day));
    clock.advance(9 * 365 * day);
    await server.restart();
    assert.equal((await api.get(`/api/rooms/${room}/content`)).json.content, 'still here');
    clock.advance(365 * day);
    assertError(await api.get(`/api/rooms/${room}`), 410, 'ROOM_EXPIRED');
  });

  it('[STAY-2] moves its expiry with each write to its lifetime after the write', async (t) => {
    const server = await startTestServer(t, { POPROOM_FREE_LIMIT: '0' });
    const { api, clock } = server;
    const { json: created } = await api.post('/api/rooms', { json: { expiresIn: 3600, extend: true } });
    assert.equal(created.extend, true);
    const at = `/api/rooms/${created.roomId}`;
    const expiresAt = async () => (await api.get(at)).json.expiresAt;
    const writes = [
      () => api.post(`${at}/content`, { json: { content: 'x' } }),
      () => api.patch(`${at}/content`, { json: { append: 'y' } }),
      () => api.upload(created.roomId, 'photo.jpg', 'abc'),
      () => uploadInParts(server, created.roomId),
    ];
    for (const write of writes) {
      clock.advance(50 * minute);
      const before = await expiresAt();
      assert.equal(before, isoIn(server, 10 * minute), 'reading does not move it');
      await write();
      assert.equal(await expiresAt(), isoIn(server, 60 * minute));
    }
    clock.advance(1000);
    await api.post(`${at}/content`, { json: { content: 'z' } });
    assert.equal(await expiresAt(), isoIn(server, 60 * minute - 1000), 'not for a second');
    clock.advance(60 * minute);
    assertError(await api.get(at), 410, 'ROOM_EXPIRED');
  });

  it('[STAY-2] is told to members with a live channel, whose edits move it too', async (t) => {
    const server = await startTestServer(t);
    const { api, clock } = server;
    const room = await api.room({ expiresIn: 3600 });
    await api.patch(`/api/rooms/${room}`, { json: { extend: true } });
    const device = await joinRoom(t, server.url, room);
    const snapshot = await device.next('snapshot');
    assert.equal(snapshot.room.extend, true);
    clock.advance(30 * minute);
    device.send({ type: 'edit', edits: [{ from: 0, to: 0, insert: 'x' }], baseVersion: 0 });
    const { expiresAt, extend } = await device.next('room');
    assert.deepEqual([expiresAt, extend], [isoIn(server, 60 * minute), true]);
  });

  it('[STAY-3] can be changed: a new lifetime, or no further extension', async (t) => {
    const server = await startTestServer(t);
    const { api, clock } = server;
    const room = createClient({ url: server.url }).room(await api.room({ expiresIn: 3600 }));
    assert.equal((await room.info()).extend, undefined);
    assert.equal((await room.update({ extend: true, expiresIn: 7200 })).extend, true);
    clock.advance(60 * minute);
    await room.write('x');
    assert.equal((await room.info()).expiresAt, isoIn(server, 120 * minute));
    await room.update({ expiresIn: 600 });
    clock.advance(5 * minute);
    await room.write('y');
    assert.equal((await room.info()).expiresAt, isoIn(server, 10 * minute));
    assert.equal((await room.update({ extend: false })).extend, undefined);
    clock.advance(5 * minute);
    await room.write('z');
    assert.equal((await room.info()).expiresAt, isoIn(server, 5 * minute));
    for (const extend of [null, 1, 'true'])
      assertError(await api.patch(`/api/rooms/${room.code}`, { json: { extend } }), 400, 'VALIDATION_FAILED');
  });
});

async function uploadInParts({ api }: TestServer, room: string): Promise<void> {
  const tus = { 'tus-resumable': '1.0.0' };
  const { headers } = await api.post(`/api/rooms/${room}/uploads`, { headers: { ...tus, 'upload-length': '3' } });
  const { pathname } = new URL(headers.get('location') ?? '');
  const patch = { ...tus, 'content-type': 'application/offset+octet-stream', 'upload-offset': '0' };
  await api.call('PATCH', pathname, { headers: patch, body: 'abc' });
}
