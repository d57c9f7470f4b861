/** Carets of other devices, over both transports, with the SDK and in encrypted rooms. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openCaret, sealCaret } from '../../src/client/crypto/metadata.ts';
import { createClient, parseRoomCode } from '../../src/client/index.ts';
import { isChange } from '../../src/client/live-state.ts';
import { createChannelCodec } from '../../src/client/sealed/channel-codec.ts';
import { createSeenVersions } from '../../src/client/sealed/versions.ts';
import type { SealedCaretMoved } from '../../src/protocol/types.ts';
import { follow } from '../client/follower.ts';
import { joinRoom } from '../support/device.ts';
import { eventually } from '../support/eventually.ts';
import { createSealedRoom } from '../support/sealed-room.ts';
import { sharedServer } from '../support/server.ts';

describe('the caret of a device', () => {
  it('[CARET-1] [CARET-2] reaches the devices that asked for carets, over both transports, and is not stored', async (t) => {
    const { api, url } = await sharedServer(t);
    const room = await api.room();
    const aborter = new AbortController();
    t.after(() => aborter.abort());
    const phone = await joinRoom(t, url, room, { deviceId: 'phone', carets: true });
    const tab = await joinRoom(t, url, room, { deviceId: 'phone', carets: true });
    const laptop = await joinRoom(t, url, room, { deviceId: 'laptop', carets: true });
    const plain = await joinRoom(t, url, room, { deviceId: 'plain' });
    const devices = [phone, tab, laptop, plain];
    for (const device of devices) await device.next('snapshot');
    const events = await fetch(`${url}/api/rooms/${room}/events?carets=true`, { signal: aborter.signal });
    const before = await api.get(`/api/rooms/${room}/content`);

    phone.send({ type: 'caret', version: 0, position: 3 });
    const moved = { type: 'caret', deviceId: 'phone', version: 0, position: 3 };
    assert.deepEqual(await laptop.next('caret'), moved);
    const selected = { type: 'caret', version: 0, position: 5, selectionEnd: 2 };
    phone.send(selected);
    assert.deepEqual(await laptop.next('caret'), { ...selected, deviceId: 'phone' });
    await readUntil(events, 'event: caret\ndata: {"type":"caret","version":0,"position":3,"deviceId":"phone"}\n\n');

    // The next message shows that no caret is on its way.
    await api.post(`/api/rooms/${room}/content`, { json: { content: 'next' } });
    for (const device of devices) await device.next('content');
    for (const device of [phone, tab, plain]) assert.ok(!device.received.some(({ type }) => type === 'caret'));
    const after = await api.get(`/api/rooms/${room}/content`);
    assert.deepEqual([before.json.version, after.json.version], [0, 1]);
  });

  it('[CARET-3] is sent at most five times a second, and the last position always', async (t) => {
    const { api, url } = await sharedServer(t);
    const room = await api.room();
    const [phone, laptop] = [
      await joinRoom(t, url, room, { deviceId: 'phone' }),
      await joinRoom(t, url, room, { deviceId: 'laptop', carets: true }),
    ];
    await Promise.all([phone.next('snapshot'), laptop.next('snapshot')]);
    const start = performance.now();
    for (let position = 1; position <= 30; position++) phone.send({ type: 'caret', version: 0, position });
    await laptop.next('caret', ({ position }) => position === 30);
    const carets = laptop.received.filter(({ type }) => type === 'caret').length;
    const allowed = 1 + Math.ceil((performance.now() - start) / 200);
    assert.ok(carets <= allowed, `${carets} of at most ${allowed}`);
    assert.ok(performance.now() - start >= 190, 'the last one waits');
    phone.send({ type: 'caret', version: -1, position: 0 });
    assert.equal((await phone.next('error')).error.code, 'VALIDATION_FAILED');
  });

  it('[CARET-4] is sealed in an encrypted room, with the same size, for one device and version', async (t) => {
    const { api, url } = await sharedServer(t);
    const room = await createSealedRoom(api);
    const join = (deviceId: string) => joinRoom(t, url, room.code, { auth: room.auth, deviceId, carets: true });
    const [phone, laptop] = [await join('phone'), await join('laptop')];
    await Promise.all([phone.next('snapshot'), laptop.next('snapshot')]);
    const sealed = sealCaret(room, 'phone', 4, [1_000_000, 1_048_576]);
    assert.equal(sealed.length, sealCaret(room, 'phone', 4, [0]).length);
    phone.send({ type: 'sealed-caret', version: 4, sealed });
    const received = await laptop.next('sealed-caret');
    assert.deepEqual(received, { type: 'sealed-caret', deviceId: 'phone', version: 4, sealed });
    assert.deepEqual(openCaret(room, 'phone', 4, received.sealed), [1_000_000, 1_048_576]);
    assert.throws(() => openCaret(room, 'phone', 5, received.sealed), { code: 'DATA_DAMAGED' });
    assert.throws(() => openCaret(room, 'laptop', 4, received.sealed), { code: 'DATA_DAMAGED' });

    phone.send({ type: 'caret', version: 0, position: 0 });
    assert.equal((await phone.next('error')).error.code, 'ENCRYPTION_REQUIRED');
    phone.send({ type: 'sealed-caret', version: 0, sealed: `${sealed}AAAA` });
    assert.equal((await phone.next('error')).error.code, 'ENCRYPTION_REQUIRED');
    const plain = await joinRoom(t, url, await api.room());
    plain.send({ type: 'sealed-caret', version: 0, sealed });
    assert.equal((await plain.next('error')).error.code, 'VALIDATION_FAILED');
  });

  it('[CARET-5] is an event of the SDK, which finds its place in a text that has changed', async (t) => {
    const { url } = await sharedServer(t);
    const [phone, laptop] = ['phone', 'laptop'].map((deviceId) => createClient({ url, deviceId }));
    assert.ok(phone && laptop);
    const { code } = await phone.createRoom();
    const text = laptop.room(code).text();
    t.after(() => text.close());
    text.append('Hello world');
    await text.synchronized();
    const watching = follow(t, laptop.room(code), { carets: true });
    const typing = follow(t, phone.room(code));
    await Promise.all([watching.next('snapshot'), typing.next('snapshot')]);
    typing.live.sendCaret({ version: 1, position: 6, selectionEnd: 11 });
    const { type, deviceId, version, position, selectionEnd = 0 } = await watching.next('caret');
    assert.deepEqual([type, deviceId, version, position, selectionEnd], ['caret', 'phone', 1, 6, 11]);

    await phone.room(code).edit([{ from: 0, to: 0, insert: '>> ' }]);
    await eventually('the edit arrives', () => text.version === 2);
    text.insert(0, 'Say: ');
    assert.equal(text.value.slice(text.positionAt(1, position), text.positionAt(1, selectionEnd)), 'world');
    assert.deepEqual([text.positionAt(99, 0), text.positionAt(-1, 0)], [undefined, undefined]);
    assert.throws(() => typing.live.sendCaret({ version: 1, position: 0.5 }), TypeError);
    // A position beyond the text is one at its end.
    assert.equal(text.positionAt(1, 10_000), text.value.length);
  });

  it('[CARET-4] [CARET-5] is sealed and opened by the SDK, which ignores one that does not open', async (t) => {
    const { url, api } = await sharedServer(t);
    const maker = createClient({ url, deviceId: 'maker' });
    const room = await maker.createRoom({ encrypted: true });
    const reader = createClient({ url, deviceId: 'reader' }).room(room.code, { key: room.key });
    const [reading, typing] = [follow(t, reader, { carets: true }), follow(t, room)];
    await Promise.all([reading.next('snapshot'), typing.next('snapshot')]);
    typing.live.sendCaret({ version: 0, position: 0, selectionEnd: 7 });
    assert.equal((await reading.next('caret')).selectionEnd, 7);
    typing.live.sendCaret({ version: 0, position: 2 });
    const second = await reading.next('caret');
    assert.deepEqual([second.deviceId, second.position, 'selectionEnd' in second], ['maker', 2, false]);

    const other = await createSealedRoom(api);
    const codec = createChannelCodec(
      other,
      createSeenVersions(undefined, () => undefined),
      undefined,
    );
    const foreign = sealCaret({ ...other, code: parseRoomCode(room.code) ?? other.code }, 'maker', 0, [1]);
    const unopened = codec.open({ type: 'sealed-caret', deviceId: 'maker', version: 0, sealed: foreign });
    assert.deepEqual([unopened.type, isChange(unopened as SealedCaretMoved)], ['sealed-caret', false]);
  });
});

/** Reads a stream until it contains a text. */
async function readUntil(response: Response, expected: string): Promise<void> {
  let text = '';
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    if (text.includes(expected)) return;
  }
  assert.fail(`The stream ended without ${expected}`);
}
