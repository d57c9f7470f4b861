/** Readers on a live channel: what they see, how members see them, and the end of their link. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { joinRoom } from '../support/device.ts';
import { createLink, revokeLink, roomWithLinks } from '../support/links.ts';
import { sharedServer, startTestServer } from '../support/server.ts';

describe('a reader', () => {
  it('[ROLE-3] [ROLE-10] follows the room without its code, its PIN and the ids of devices', async (t) => {
    const { api, url } = await sharedServer(t);
    const pin = '0427';
    const { room, read } = await roomWithLinks({ api }, { pin });
    const member = await joinRoom(t, url, room, { pin, deviceId: 'id-of-member', deviceName: 'Laptop', edits: true });
    await member.next('snapshot');
    const joining = { deviceId: 'id-of-reader', deviceName: 'Tablet', edits: true, deviceChanges: true };
    const reader = await joinRoom(t, url, read, joining);
    const snapshot = await reader.next('snapshot');
    assert.deepEqual([snapshot.room.roomId, snapshot.room.role, snapshot.room.hasPin], [read, 'read', false]);
    assert.deepEqual(snapshot.devices.map(({ deviceName }) => deviceName).sort(), ['Laptop', 'Tablet']);
    assert.equal(snapshot.devices.find(({ deviceName }) => deviceName === 'Tablet')?.deviceId, 'id-of-reader');
    const { devices } = await member.next('devices', ({ devices }) => devices.length === 2);
    const seen = devices.find(({ deviceName }) => deviceName === 'Tablet');
    assert.equal(seen?.role, 'read');
    assert.notEqual(seen?.deviceId, 'id-of-reader', 'it cannot act as the device of a member');

    member.send({ type: 'edit', edits: [{ from: 0, to: 0, insert: 'Hello' }], baseVersion: 0, ref: 'ref-of-member' });
    const edit = await reader.next('edit');
    assert.equal(edit.edits[0]?.insert, 'Hello');
    const laptop = snapshot.devices.find(({ deviceName }) => deviceName === 'Laptop');
    assert.equal(edit.deviceId, laptop?.deviceId, 'the reader knows who wrote it');
    await api.upload(room, 'a.txt', 'bytes', { pin, headers: { 'x-device-id': 'id-of-member' } });
    assert.equal((await reader.next('file-added')).file.fileName, 'a.txt');
    await api.get(`/api/rooms/${room}`, { pin: '9999' });
    await api.patch(`/api/rooms/${room}`, { json: { pin: '1234' }, pin });
    await api.patch(`/api/rooms/${room}`, { json: { name: 'Table' }, pin: '1234' });
    const changed = await reader.next('room');
    assert.deepEqual([changed.name, changed.hasPin, changed.pinChanged], ['Table', false, undefined]);
    const all = JSON.stringify(reader.received);
    for (const secret of [room, 'id-of-member', 'ref-of-member', 'pin-attempts', pin, '1234'])
      assert.ok(!all.includes(secret), `${secret} in ${all}`);
  });

  it('[ROLE-5] is disconnected at once when its link is revoked, and its token ends too', async (t) => {
    const server = await sharedServer(t);
    const { api, url } = server;
    const { room, read } = await roomWithLinks(server);
    const kept = await createLink(server, room, 'read');
    const [reader, other] = [await joinRoom(t, url, read), await joinRoom(t, url, kept)];
    const { resumeToken = '' } = await reader.next('snapshot');
    await other.next('snapshot');
    const resumed = await joinRoom(t, url, read, {}, { resumeToken });
    assert.equal((await resumed.next('snapshot')).room.roomId, read);
    await revokeLink(server, room, read);
    for (const ended of [reader, resumed]) {
      assert.equal((await ended.next('closed')).reason, 'revoked');
      assert.equal((await ended.closed).code, 4410);
    }
    const late = await joinRoom(t, url, read, {}, { resumeToken });
    assert.equal((await late.next('error')).error.code, 'ROOM_NOT_FOUND');
    assert.equal((await late.closed).code, 4404);
    for (const foreign of [room, kept]) {
      const otherRoom = await joinRoom(t, url, foreign, {}, { resumeToken });
      assert.equal((await otherRoom.next('snapshot')).room.roomId, foreign, 'the token of a link opens nothing else');
    }
    await api.post(`/api/rooms/${room}/content`, { json: { content: 'later' } });
    assert.equal((await other.next('content')).content, 'later');
  });

  it('[ROLE-5] with a token of a link cannot enter a room that has a PIN', async (t) => {
    const { api, url } = await sharedServer(t);
    const { room, read } = await roomWithLinks({ api }, { pin: '0427' });
    const reader = await joinRoom(t, url, read);
    const { resumeToken = '' } = await reader.next('snapshot');
    const intruder = await joinRoom(t, url, room, {}, { resumeToken });
    assert.equal((await intruder.next('error')).error.code, 'PIN_REQUIRED');
  });

  it('[ROLE-9] is disconnected when its link expires', async (t) => {
    const { api, url, clock } = await startTestServer(t);
    const room = await api.room();
    const short = await createLink({ api }, room, 'read', { expiresIn: 60 });
    const reader = await joinRoom(t, url, short);
    const { room: seen } = await reader.next('snapshot');
    assert.equal(Date.parse(seen.expiresAt), clock.now + 60_000);
    clock.advance(60_000);
    await api.post(`/api/rooms/${room}/content`, { json: { content: 'later' } });
    assert.equal((await reader.next('closed')).reason, 'expired');
    assert.ok(!reader.received.some(({ type }) => type === 'content'));
  });

  it('[ROLE-3] follows over server-sent events, which name only the link', async (t) => {
    const { api, url } = await sharedServer(t);
    const { room, read } = await roomWithLinks({ api });
    const response = await fetch(`${url}/api/rooms/${read}/events`, { signal: t.signal });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    const { value = '' } = (await reader?.read()) ?? {};
    await reader?.cancel();
    assert.ok(value.includes(read) && !value.includes(room), value);
  });
});
