/** Readers on a live channel: what they see, how members see them, and the end of their link. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createClient } from '../../src/client/index.ts';
import { connect, joinRoom } from '../support/device.ts';
import { eventually } from '../support/eventually.ts';
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
    for (const secret of [room, 'id-of-member', 'ref-of-member', 'pin-attempts'])
      assert.ok(!all.includes(secret), `${secret} in ${all}`);
    // The id of a file or the port may contain the digits of a PIN.
    assert.doesNotMatch(all, /\b(0427|1234)\b/);
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

  for (const kind of ['plain', 'encrypted'] as const) {
    it(`[ROLE-3] receives no byte of a secret of a room (${kind}), over HTTP, WebSocket and server-sent events`, async (t) => {
      const { api, url } = await sharedServer(t);
      const deviceId = 'id-of-member';
      const member = createClient({ url, deviceId, deviceName: 'Laptop' });
      const isEncrypted = kind === 'encrypted';
      const room = await member.createRoom(isEncrypted ? { encrypted: true } : { pin: '0427' });
      const [read, other, drop] = [
        await room.createLink({ role: 'read' }),
        await room.createLink({ role: 'read', name: 'Other guests' }),
        await room.createLink({ role: 'drop' }),
      ];
      const bytes: Buffer[] = [];
      const reader = await connect(t, url, read.linkId);
      reader.socket.on('message', (data) => bytes.push(data as Buffer));
      reader.send({ type: 'join', deviceId: 'own-id', edits: true, deviceChanges: true, carets: true });
      await reader.next('snapshot');
      const stopped = new AbortController();
      t.after(() => stopped.abort());
      const events = await fetch(`${url}/api/rooms/${read.linkId}/events?edits=true`, { signal: stopped.signal });
      const streamed = collect(events, bytes);

      // Everything that members and others do is new to the reader.
      const text = room.text({ signal: stopped.signal });
      text.insert(0, 'Hello');
      await eventually('it is stored', () => text.state === 'synchronized');
      const second = createClient({ url, deviceId: 'id-of-other', deviceName: 'Phone' });
      const guest = second.room(other.link ?? '').live({ signal: stopped.signal });
      for await (const { type } of guest) if (type === 'snapshot') break;
      await room.upload(new Blob(['bytes']), { name: 'a.txt' });
      const dropper = createClient({ url, deviceId: 'id-of-dropper' }).room(drop.link ?? '');
      await dropper.upload(new Blob(['dropped']), { name: 'b.txt' });
      if (!isEncrypted) {
        await assert.rejects(member.room(room.code, { pin: '9999' }).info(), { code: 'PIN_INCORRECT' });
        await room.update({ pin: '1234' });
      }
      await room.update({ name: 'Table' });
      const last = (await room.files()).at(-1)?.fileId ?? '';
      await room.removeFile(last);
      await reader.next('file-removed');

      const { files } = (await api.get(`/api/rooms/${read.linkId}/files`)).json;
      const paths = ['', '?details=true', '/content', '/files', '/files.zip', '/history', '/links', '/webhooks'];
      const urls = paths.map((path) => `${url}/api/rooms/${read.linkId}${path}`);
      for (const address of [...urls, files[0].fileUrl])
        await collect(
          await fetch(address, { headers: { 'Accept-Encoding': 'identity', 'X-Device-Id': 'own-id' } }),
          bytes,
        );
      await collect(await fetch(`${url}/api/rooms/${read.linkId}/tickets`, { method: 'POST' }), bytes);
      await room.revokeLink(read.linkId);
      await reader.closed;
      await streamed;
      const seen = Buffer.concat(bytes).toString('latin1');
      for (const expected of ['own-id', read.linkId, 'file-removed', 'revoked', isEncrypted ? 'pop1.' : 'Laptop'])
        assert.ok(seen.includes(expected), `the test looks at what it means to: ${expected}`);
      const ids = [deviceId, 'id-of-other', 'id-of-dropper', other.linkId, drop.linkId, room.code];
      const secrets = [...ids, ...(isEncrypted ? [] : ['"0427"', '"1234"', '"9999"', 'pin-attempts', 'pinChanged'])];
      for (const secret of secrets) assert.ok(!seen.includes(secret), `${secret} in ${seen}`);
    });
  }
});

/** Adds the head and the body of a response. */
async function collect(response: Response, bytes: Buffer[]): Promise<void> {
  bytes.push(Buffer.from(JSON.stringify([...response.headers])));
  for await (const chunk of response.body ?? []) bytes.push(Buffer.from(chunk));
}
