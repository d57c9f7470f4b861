/** Editing over the channel, together with clients that receive whole texts. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { TextEdit } from '../../src/protocol/types.ts';
import { checksumOf } from '../../src/text/document.ts';
import { type Device, type JoinOptions, joinRoom } from '../support/device.ts';
import { sharedServer, startTestServer, type TestServer } from '../support/server.ts';

const insert = (at: number, text: string): TextEdit[] => [{ from: at, to: at, insert: text }];

/** A device that follows a room by edits, and has its snapshot. */
async function editor(t: TestContext, { url }: TestServer, room: string, joining: JoinOptions = {}): Promise<Device> {
  const device = await joinRoom(t, url, room, { edits: true, ...joining });
  await device.next('snapshot');
  return device;
}

const contentOf = async ({ api }: TestServer, room: string) =>
  (await api.get(`/api/rooms/${room}/content`)).json.content;

describe('editing over the channel', () => {
  it('[LIVE-16] [LIVE-17] sends others the edit, its author an acknowledgement, and older clients the text', async (t) => {
    const server = await sharedServer(t);
    const room = await server.api.room();
    const [author, other] = [
      await editor(t, server, room, { deviceId: 'author' }),
      await editor(t, server, room, { deviceId: 'other' }),
    ];
    const reader = await joinRoom(t, server.url, room);
    await reader.next('snapshot');

    author.send({ type: 'edit', edits: insert(0, 'Hello'), baseVersion: 0, ref: 'a1' });
    const written = await author.next('written');
    assert.deepEqual([written.version, written.ref], [1, 'a1']);
    const { type: _, ...edit } = await other.next('edit');
    const { seq, timestamp } = written;
    const author1 = { timestamp, deviceId: 'author', ref: 'a1' };
    assert.deepEqual(edit, { seq, version: 1, edits: insert(0, 'Hello'), ...author1, length: 5 });
    const text = await reader.next('content');
    assert.deepEqual([text.content, text.version, text.seq], ['Hello', 1, seq]);
    assert.ok(author.received.every(({ type }) => type !== 'edit' && type !== 'content'));
    assert.ok(other.received.every(({ type }) => type !== 'content'));
    assert.ok(reader.received.every(({ type }) => type !== 'edit'));
  });

  it('[LIVE-16] sends a replaced text as the smallest edit', async (t) => {
    const server = await sharedServer(t);
    const room = await server.api.room();
    await server.api.post(`/api/rooms/${room}/content`, { json: { content: 'one\ntwo\nthree\n' } });
    const device = await editor(t, server, room);
    await server.api.post(`/api/rooms/${room}/content`, { json: { content: 'One\ntwo\nthree!\n' } });
    const { edits, deviceId } = await device.next('edit');
    assert.deepEqual(edits, [{ from: 0, to: 3, insert: 'One' }, ...insert(13, '!')]);
    assert.equal(deviceId, undefined);
  });

  it('[LIVE-5] [LIVE-16] allows old and new clients to write in one room', async (t) => {
    const server = await sharedServer(t);
    const room = await server.api.room();
    const [modern, old] = [await editor(t, server, room), await joinRoom(t, server.url, room)];
    await old.next('snapshot');
    old.send({ type: 'content', content: 'from old', baseVersion: 0, ref: 'o' });
    assert.equal((await old.next('written')).version, 1);
    assert.deepEqual((await modern.next('edit')).edits, insert(0, 'from old'));
    modern.send({ type: 'edit', edits: insert(8, ' and new'), baseVersion: 1 });
    assert.equal((await modern.next('written')).ref, undefined);
    assert.equal((await old.next('content')).content, 'from old and new');
    old.send({ type: 'content', content: 'too late', baseVersion: 1, ref: 'p' });
    const { content, version, ref } = await old.next('conflict');
    assert.deepEqual({ content, version, ref }, { content: 'from old and new', version: 2, ref: 'p' });
  });

  it('[LIVE-16] sends a client that receives whole texts the result of its edit', async (t) => {
    const server = await sharedServer(t);
    const room = await server.api.room();
    const old = await joinRoom(t, server.url, room);
    await old.next('snapshot');
    await server.api.post(`/api/rooms/${room}/content`, { json: { content: 'B' } });
    old.send({ type: 'edit', edits: insert(0, 'A'), baseVersion: 0 });
    assert.equal((await old.next('content', ({ version }) => version === 2)).content, 'AB');
    assert.equal((await old.next('written')).version, 2);
  });

  it('[TEXT-10] [LIVE-17] rebases edits of older versions, and orders ties by device', async (t) => {
    const server = await sharedServer(t);
    const room = await server.api.room();
    const [a, b] = [await editor(t, server, room, { deviceId: 'a' }), await editor(t, server, room, { deviceId: 'b' })];
    b.send({ type: 'edit', edits: insert(0, 'xyz'), baseVersion: 0 });
    await b.next('written');
    a.send({ type: 'edit', edits: insert(0, 'abc'), baseVersion: 0 });
    assert.equal((await a.next('written')).version, 2);
    assert.deepEqual((await b.next('edit')).edits, insert(0, 'abc'));
    b.send({ type: 'edit', edits: insert(3, '!'), baseVersion: 1 });
    assert.equal((await b.next('written')).version, 3);
    assert.deepEqual((await a.next('edit', ({ version }) => version === 3)).edits, insert(6, '!'));
    assert.equal(await contentOf(server, room), 'abcxyz!');
  });

  it('[SYNC-5] states the length of the text with each edit, and every eighth time a checksum', async (t) => {
    const server = await sharedServer(t);
    const room = await server.api.room();
    const [author, other] = [await editor(t, server, room), await editor(t, server, room)];
    for (let n = 0; n < 8; n++) {
      author.send({ type: 'edit', edits: insert(0, n % 2 ? 'é😀' : 'ab'), baseVersion: n });
      await author.next('written');
    }
    const text = await contentOf(server, room);
    const edit = await other.next('edit', ({ version }) => version === 8);
    assert.deepEqual([edit.length, edit.checksum], [text.length, checksumOf(text)]);
    const written = author.received.filter((message) => message.type === 'written');
    assert.deepEqual(
      written.map(({ checksum }) => checksum),
      [...Array(7).fill(undefined), checksumOf(text)],
    );
    assert.equal(written.at(-1)?.length, text.length);
  });

  it('[SYNC-5] counts the clients that found another text', async (t) => {
    const server = await startTestServer(t, { POPROOM_METRICS: 'true' });
    const room = await server.api.room();
    await joinRoom(t, server.url, room, { edits: true, diverged: true }).then((device) => device.next('snapshot'));
    const { text } = await server.api.get('/metrics');
    assert.match(text, /^poproom_text_divergences_total 1$/m);
  });

  it('[LIVE-17] sends everything before an acknowledgement, with 10 devices that write without waiting', async (t) => {
    const server = await sharedServer(t);
    const room = await server.api.room();
    const names = Array.from({ length: 10 }, (_, n) => `device-${n}`);
    const devices = await Promise.all(names.map((deviceId) => editor(t, server, room, { deviceId })));
    for (let n = 0; n < 10; n++) {
      for (const [i, device] of devices.entries()) {
        device.send({ type: 'edit', edits: insert(0, `${i}`), baseVersion: 0, ref: `${n}` });
      }
    }
    const expected = Array.from({ length: 100 }, (_, n) => n + 1);
    for (const device of devices) await device.next('written', ({ ref }) => ref === '9');
    const last = (await server.api.get(`/api/rooms/${room}/content`)).headers.get('etag');
    assert.equal(last, '"100"');
    for (const device of devices) {
      while (versionsOf(device).length < 100) await device.next('edit');
      assert.deepEqual(versionsOf(device), expected);
    }
    const text = await contentOf(server, room);
    assert.equal(text, names.map((_, i) => `${i}`.repeat(10)).join(''));
  });
});

const versionsOf = ({ received }: Device) =>
  received.flatMap((message) => (message.type === 'edit' || message.type === 'written' ? message.version : []));

describe('a device that rejoins', () => {
  it('[LIVE-18] receives the edits that it missed, and no snapshot', async (t) => {
    const server = await sharedServer(t);
    const room = await server.api.room();
    const writer = await editor(t, server, room, { deviceId: 'writer' });
    const first = await editor(t, server, room, { deviceId: 'phone' });
    for (const [n, letter] of [...'abc'].entries()) {
      writer.send({ type: 'edit', edits: insert(n, letter), baseVersion: n, ref: letter });
      await writer.next('written');
    }
    const { seq, version, timestamp } = await first.next('edit');
    await first.leave();
    const again = await joinRoom(t, server.url, room, { edits: true, deviceId: 'phone', seq, version, timestamp });
    await again.next('devices');
    const types = again.received.map(({ type }) => type);
    assert.deepEqual(types.slice(0, 3), ['edit', 'edit', 'devices']);
    assert.deepEqual(versionsOf(again), [2, 3]);
    const [, last, devices] = again.received as { seq: number }[];
    assert.equal(last?.seq, seq, 'only the last message of a step has the new seq');
    assert.equal(devices?.seq, seq + 2);
  });

  it('[LIVE-18] receives a snapshot as well if it missed something else', async (t) => {
    const server = await sharedServer(t);
    const room = await server.api.room();
    const writer = await editor(t, server, room);
    writer.send({ type: 'edit', edits: insert(0, 'a'), baseVersion: 0, ref: 'mine' });
    const { seq, version, timestamp } = await writer.next('written');
    await server.api.upload(room, 'a.txt', 'abc');
    await server.api.patch(`/api/rooms/${room}/content`, { json: { append: 'b' } });
    const again = await joinRoom(t, server.url, room, { edits: true, seq, version, timestamp });
    const { content, files } = await again.next('snapshot');
    assert.deepEqual([content.content, content.version, files.length], ['ab', 2, 1]);
    assert.deepEqual(versionsOf(again), [2]);
  });

  it('[LIVE-18] receives a snapshot if its version is unknown, too new, or was another text', async (t) => {
    const server = await sharedServer(t);
    const room = await server.api.room();
    const writer = await editor(t, server, room);
    for (const [n, letter] of [...'ab'].entries()) {
      writer.send({ type: 'edit', edits: insert(n, letter), baseVersion: n });
      await writer.next('written');
    }
    const timestamp = '2026-01-01T00:00:00.000Z';
    for (const joining of [
      {},
      { seq: 2 },
      { version: 3 },
      { version: 1, timestamp },
      { version: 2, timestamp, seq: 2 },
    ]) {
      const device = await joinRoom(t, server.url, room, { edits: true, ...joining });
      assert.equal((await device.next('snapshot')).content.content, 'ab');
      assert.equal(device.received[0]?.type, 'snapshot');
      assert.deepEqual(versionsOf(device), [], JSON.stringify(joining));
    }
  });

  it('[slow] [LIVE-18] [TEXT-8] receives all edits of a long absence, also after a restart', async (t) => {
    const server = await startTestServer(t, { POPROOM_FREE_LIMIT: '0' });
    const room = await server.api.room();
    const append = () => server.api.patch(`/api/rooms/${room}/content`, { json: { append: 'x' } });
    await append();
    const first = await joinRoom(t, server.url, room, { edits: true, deviceId: 'phone' });
    const { seq, content } = await first.next('snapshot');
    await first.leave();
    for (let n = 0; n < 1200; n += 50) await Promise.all(Array.from({ length: 50 }, append));
    await server.restart();
    const { version, timestamp } = content;
    const again = await joinRoom(t, server.url, room, { edits: true, deviceId: 'phone', seq, version, timestamp });
    await again.next('devices');
    assert.deepEqual(
      versionsOf(again),
      Array.from({ length: 1200 }, (_, n) => n + 2),
    );
    assert.ok(again.received.every(({ type }) => type !== 'snapshot'));
  });

  it('[LIVE-18] receives the edits of a replaced text, whose log starts after it', async (t) => {
    const server = await startTestServer(t);
    const room = await server.api.room();
    await server.api.post(`/api/rooms/${room}/content`, { json: { content: 'Hello' } });
    const first = await joinRoom(t, server.url, room, { edits: true, deviceId: 'phone' });
    const { version, timestamp } = (await first.next('snapshot')).content;
    await first.leave();
    for (const append of [' and', ' bye']) await server.api.patch(`/api/rooms/${room}/content`, { json: { append } });
    await server.restart();
    const again = await joinRoom(t, server.url, room, { edits: true, deviceId: 'phone', version, timestamp });
    await again.next('snapshot');
    assert.deepEqual(versionsOf(again), [2, 3]);
  });

  it('[LIVE-18] [SYNC-3] learns from a snapshot which of its edits are stored, if the log does not have them', async (t) => {
    const server = await startTestServer(t);
    const room = await server.api.room();
    const phone = await editor(t, server, room, { deviceId: 'phone' });
    for (const [n, ref] of ['tab1-1', 'tab1-2', 'tab2-1'].entries()) {
      phone.send({ type: 'edit', edits: insert(n, 'x'), baseVersion: n, ref });
      await phone.next('written');
    }
    await phone.leave();
    await server.api.delete(`/api/rooms/${room}/history`);
    await server.restart();
    const again = await joinRoom(t, server.url, room, { edits: true, deviceId: 'phone', version: 1 });
    const { content } = await again.next('snapshot');
    assert.deepEqual(content.lastRefs, [
      { deviceId: 'phone', ref: 'tab1-2' },
      { deviceId: 'phone', ref: 'tab2-1' },
    ]);
    again.send({ type: 'edit', edits: insert(0, 'x'), baseVersion: 3, ref: 'tab1-2' });
    assert.equal((await again.next('written')).version, 2, 'it is stored once');
    const whole = await joinRoom(t, server.url, room);
    assert.equal((await whole.next('snapshot')).content.lastRefs, undefined);
  });

  it('[LIVE-19] [SYNC-3] can repeat an edit that was stored, and it is stored once', async (t) => {
    const server = await sharedServer(t);
    const room = await server.api.room();
    const first = await editor(t, server, room, { deviceId: 'phone' });
    const edit = { type: 'edit', edits: insert(0, 'once'), baseVersion: 0, ref: 'r1' };
    first.send(edit);
    const { version, timestamp } = await first.next('written');
    first.socket.terminate();
    await server.api.patch(`/api/rooms/${room}/content`, { json: { append: '!' } });
    const again = await joinRoom(t, server.url, room, { edits: true, deviceId: 'phone', version: 0 });
    const replayed = await again.next('edit');
    assert.deepEqual([replayed.deviceId, replayed.ref], ['phone', 'r1']);
    again.send(edit);
    const repeated = await again.next('written');
    assert.deepEqual([repeated.version, repeated.timestamp, repeated.ref], [version, timestamp, 'r1']);
    again.send({ ...edit, edits: insert(0, 'other') });
    const { error, ref } = await again.next('error');
    assert.deepEqual([error.code, error.details?.field, ref], ['VALIDATION_FAILED', 'ref', 'r1']);
    again.send({ type: 'edit', edits: [{ from: 0, to: 1, insert: '' }], baseVersion: 2, ref: 'r2' });
    await again.next('written', (told) => told.ref === 'r2');
    again.send({ type: 'edit', edits: [{ from: 2, to: 4, insert: '' }], baseVersion: 2, ref: 'r2' });
    assert.equal((await again.next('error')).error.code, 'VALIDATION_FAILED');
    // The ref is of the device: another may use the same.
    const other = await editor(t, server, room, { deviceId: 'laptop' });
    other.send({ ...edit, edits: insert(0, '2'), baseVersion: 3 });
    await other.next('written');
    assert.equal(await contentOf(server, room), '2nce!');
  });

  it('[LIVE-19] [SYNC-3] can repeat it after a restart of the server', async (t) => {
    const server = await startTestServer(t);
    const room = await server.api.room();
    const first = await editor(t, server, room, { deviceId: 'phone' });
    const edit = { type: 'edit', edits: insert(0, 'once'), baseVersion: 0, ref: 'r1' };
    first.send(edit);
    await first.next('written');
    await server.restart();
    const again = await editor(t, server, room, { deviceId: 'phone' });
    again.send(edit);
    assert.equal((await again.next('written')).version, 1);
    assert.equal(await contentOf(server, room), 'once');
  });
});

describe('a rejected edit', () => {
  const tooMany = Array.from({ length: 1001 }, (_, n) => ({ from: n, to: n, insert: '' }));
  const refused: [string, object, string][] = [
    ['out of range', { edits: [{ from: 0, to: 6, insert: '' }], baseVersion: 1 }, 'VALIDATION_FAILED'],
    ['from after to', { edits: [{ from: 2, to: 1, insert: '' }], baseVersion: 1 }, 'VALIDATION_FAILED'],
    ['overlapping', { edits: [...insert(3, 'x'), ...insert(1, 'y')], baseVersion: 1 }, 'VALIDATION_FAILED'],
    ['splitting a pair', { edits: insert(3, 'x'), baseVersion: 1 }, 'VALIDATION_FAILED'],
    ['removing half of a pair', { edits: [{ from: 3, to: 4, insert: '' }], baseVersion: 1 }, 'VALIDATION_FAILED'],
    ['half of a pair', { edits: insert(0, '\ud83d'), baseVersion: 1 }, 'VALIDATION_FAILED'],
    ['none', { edits: [], baseVersion: 1 }, 'VALIDATION_FAILED'],
    ['too many', { edits: tooMany, baseVersion: 1 }, 'VALIDATION_FAILED'],
    ['with a fraction', { edits: insert(0.5, 'x'), baseVersion: 1 }, 'VALIDATION_FAILED'],
    ['negative', { edits: insert(-1, 'x'), baseVersion: 1 }, 'VALIDATION_FAILED'],
    ['without a base', { edits: insert(0, 'x') }, 'VALIDATION_FAILED'],
    ['of the future', { edits: insert(0, 'x'), baseVersion: 2 }, 'VERSION_CONFLICT'],
    ['too long a result', { edits: insert(0, 'x'.repeat(4090)), baseVersion: 1 }, 'CONTENT_TOO_LARGE'],
  ];

  it('[TEXT-11] [LIVE-17] changes nothing, and the channel stays open', async (t) => {
    const server = await startTestServer(t, { POPROOM_CONTENT_MAX: '4KiB' });
    const room = await server.api.room();
    const device = await editor(t, server, room);
    device.send({ type: 'edit', edits: insert(0, 'ab😀c'), baseVersion: 0 });
    await device.next('written');
    for (const [name, edit, code] of refused) {
      device.send({ type: 'edit', ref: name, ...edit });
      const { error, ref } = await device.next('error');
      assert.deepEqual([error.code, ref], [code, name]);
      assert.ok(!JSON.stringify(error).includes('ab😀c'), 'a refusal does not repeat the text');
      // Five mistakes in a row would end it.
      device.send({ type: 'heartbeat' });
    }
    const { headers, json } = await server.api.get(`/api/rooms/${room}/content`);
    assert.deepEqual([json.content, headers.get('etag')], ['ab😀c', '"1"']);
  });

  it('[TEXT-8] [TEXT-11] includes one for a version that the log no longer has', async (t) => {
    const server = await sharedServer(t);
    const room = await server.api.room();
    const device = await editor(t, server, room);
    for (let n = 0; n < 3; n++) {
      device.send({ type: 'edit', edits: insert(0, 'x'), baseVersion: n });
      await device.next('written');
    }
    await server.api.delete(`/api/rooms/${room}/history`);
    device.send({ type: 'edit', edits: insert(0, 'x'), baseVersion: 2 });
    const { error } = await device.next('error');
    assert.deepEqual([error.code, error.details?.version], ['VERSION_CONFLICT', 3]);
    device.send({ type: 'edit', edits: insert(0, 'x'), baseVersion: 3 });
    assert.equal((await device.next('written')).version, 4);
  });
});
