/** Devices in a room receive every change, however it was made. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { joinRoom } from '../support/device.ts';
import { sharedServer, startTestServer } from '../support/server.ts';

describe('changes of a room', () => {
  it('[LIVE-2] start with a snapshot of everything', async (t) => {
    const { api, url } = await sharedServer(t);
    const room = await api.room({ pin: '0427' });
    await api.post(`/api/rooms/${room}/content`, { json: { content: 'Hello' }, pin: '0427' });
    await api.upload(room, 'a.txt', 'hi', { pin: '0427' });
    const device = await joinRoom(t, url, room, { pin: '0427', deviceId: 'phone', deviceName: 'My phone' });
    const snapshot = await device.next('snapshot');
    assert.equal(device.received[0], snapshot);
    assert.equal(snapshot.seq, 2);
    assert.equal(snapshot.room.roomId, room);
    assert.equal(snapshot.room.hasPin, true);
    assert.deepEqual(
      { content: snapshot.content.content, version: snapshot.content.version },
      { content: 'Hello', version: 1 },
    );
    assert.deepEqual(
      snapshot.files.map(({ fileName, fileSize }) => ({ fileName, fileSize })),
      [{ fileName: 'a.txt', fileSize: 2 }],
    );
    assert.deepEqual(snapshot.devices, [{ deviceId: 'phone', deviceName: 'My phone' }]);
    const file = await fetch(snapshot.files[0]?.fileUrl ?? '');
    assert.equal(await file.text(), 'hi');
  });

  it('[LIVE-3] do not include devices that join and leave, which have the current seq', async (t) => {
    const { api, url } = await sharedServer(t);
    const room = await api.room();
    await api.post(`/api/rooms/${room}/content`, { json: { content: 'one' } });
    const device = await joinRoom(t, url, room, { deviceId: 'laptop' });
    const { seq } = await device.next('snapshot');
    const other = await joinRoom(t, url, room, { deviceId: 'phone' });
    assert.equal((await device.next('devices', ({ devices }) => devices.length === 2)).seq, seq);
    await other.leave();
    assert.equal((await device.next('devices', ({ devices }) => devices.length === 1)).seq, seq);
  });

  it('[LIVE-3] by REST, by socket, by upload, by removal and by wrong PINs reach every device in the order of seq', async (t) => {
    const { api, url } = await sharedServer(t);
    const room = await api.room({ pin: '0427' });
    const pin = '0427';
    const [one, two] = [await joinRoom(t, url, room, { pin }), await joinRoom(t, url, room, { pin })];
    await Promise.all([one.next('snapshot'), two.next('snapshot')]);

    await api.post(`/api/rooms/${room}/content`, { json: { content: 'by REST' }, pin });
    for (const device of [one, two]) assert.equal((await device.next('content')).content, 'by REST');

    one.send({ type: 'content', content: 'by socket', baseVersion: 1, ref: 'mine' });
    assert.deepEqual(await one.next('written').then(({ version, ref }) => ({ version, ref })), {
      version: 2,
      ref: 'mine',
    });
    assert.equal((await two.next('content')).content, 'by socket');

    await api.upload(room, 'b.txt', 'bytes', { pin });
    const added = await Promise.all([one.next('file-added'), two.next('file-added')]);
    for (const { file } of added) assert.equal(file.fileName, 'b.txt');

    const fileId = added[0].file.fileId;
    await api.delete(`/api/rooms/${room}/files/${fileId}`, { pin });
    for (const device of [one, two]) assert.equal((await device.next('file-removed')).fileId, fileId);

    await api.get(`/api/rooms/${room}`, { pin: '9999', from: '203.0.113.9' });
    for (const device of [one, two]) assert.equal((await device.next('pin-attempts')).pinAttempts, 1);

    for (const { received } of [one, two]) {
      const seqs = received.flatMap((message) => ('seq' in message ? [message.seq] : []));
      assert.deepEqual(
        seqs,
        seqs.toSorted((a, b) => a - b),
      );
      assert.equal(seqs.at(-1), 5);
    }
    assert.ok(
      !one.received.some((message) => message.type === 'content' && message.content === 'by socket'),
      'no echo',
    );
  });

  it('[LIVE-6] end when the room is deleted or expires', async (t) => {
    const { api, url, clock } = await startTestServer(t);
    const deleted = await api.room();
    const one = await joinRoom(t, url, deleted);
    await one.next('snapshot');
    await api.delete(`/api/rooms/${deleted}`);
    assert.equal((await one.next('closed')).reason, 'deleted');
    assert.deepEqual(await one.closed, { code: 4410, reason: 'deleted' });

    const expire = async () => {
      const two = await joinRoom(t, url, await api.room({ expiresIn: 60 }));
      await two.next('snapshot');
      const before = performance.now();
      clock.advance(60_000);
      assert.equal((await two.next('closed')).reason, 'expired');
      assert.equal((await two.closed).code, 4410);
      return performance.now() - before;
    };
    // A stall of the machine may delay one of them.
    const times = [await expire()];
    while (times.length < 3 && Math.min(...times) >= 5000) times.push(await expire());
    assert.ok(Math.min(...times) < 5000, `${times} ms`);
  });

  it('[LIVE-14] end with a delay before reconnecting when the server stops', async (t) => {
    const server = await startTestServer(t);
    const room = await server.api.room();
    const devices = await Promise.all(Array.from({ length: 5 }, () => joinRoom(t, server.url, room)));
    await Promise.all(devices.map((device) => device.next('snapshot')));
    await server.stop();
    const last = await Promise.all(devices.map((device) => device.next('closed')));
    for (const { reason } of last) assert.equal(reason, 'shutdown');
    assert.ok(new Set(last.map(({ reconnectAfter }) => reconnectAfter)).size > 1, 'not all at once');
    for (const device of devices) assert.equal((await device.closed).code, 1012);
  });
});
