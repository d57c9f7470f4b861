/** Creating and entering rooms, and their devices. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { guardRules } from '../../src/core/limits.ts';
import type { AccessAttempt, RoomStore } from '../../src/core/ports/rooms.ts';
import { codeLengths, drawSymbols, type RoomCode } from '../../src/core/room-code.ts';
import { eventually } from '../support/eventually.ts';
import {
  accessAttempt,
  createRoom,
  day,
  draft,
  file,
  hour,
  mac,
  type OpenStore,
  ownStore,
  quota,
  second,
  sharedStore,
  start,
  textOf,
  unknownCode,
  writeText,
} from './store-under-test.ts';

export function roomTests(open: OpenStore): void {
  describe('creating rooms', () => creationTests(open));
  describe('code lengths', () => lengthTests(open));
  describe('entering rooms', () => entryTests(open));
  describe('devices', () => deviceTests(open));
}

function creationTests(open: OpenStore): void {
  const store = sharedStore(open);

  it('[MON-4] counts the operations that wait for the store', async () => {
    const waiting = Array.from({ length: 3 }, () => store.rooms.createRoom(draft({})));
    assert.ok(store.queueLength() >= 3, `${store.queueLength()} wait`);
    await Promise.all(waiting);
    await eventually('none waits', () => store.queueLength() === 0);
  });

  it('[CODE-1] builds the code from the generated symbols', async () => {
    const draw = drawSymbols();
    assert.equal(await store.rooms.createRoom(draft({ draw })), draw.slice(0, 8));
  });

  it('[CODE-4] rejects a code that is in use, and leaves its room unchanged', async () => {
    const first = draft({ pinMac: mac('1111') });
    const code = await createRoom(store.rooms, first);
    await writeText(store.texts, code, 'mine');
    assert.equal(await store.rooms.createRoom(draft({ draw: first.draw })), undefined);
    assert.equal((await textOf(store.rooms, code, start, first.pinMac))?.content, 'mine');
    assert.deepEqual(await store.rooms.admit(accessAttempt(code)), { outcome: 'pin-required' });
  });

  it('[CODE-4] gives a code to exactly one of 20 concurrent callers', async () => {
    const draw = drawSymbols();
    const codes = await Promise.all(Array.from({ length: 20 }, () => store.rooms.createRoom(draft({ draw }))));
    assert.deepEqual(
      codes.filter((code) => code !== undefined),
      [draw.slice(0, 8)],
    );
  });

  it('[CODE-4] rejects the code of an expired room, swept or not, as long as it is remembered', async () => {
    const expired = draft({ expiresAt: start + hour });
    await createRoom(store.rooms, expired);
    const again = { ...draft(), draw: expired.draw, createdAt: start + 2 * hour };
    assert.equal(await store.rooms.createRoom(again), undefined);
    await store.rooms.expireRooms(start + 2 * hour, 100);
    assert.equal(await store.rooms.createRoom(again), undefined);
  });

  it('[CODE-4] frees the code of an expired room when it is no longer remembered', async (t) => {
    const { rooms } = (await ownStore(t, open)).store;
    const expired = draft({ expiresAt: start + hour });
    const code = await createRoom(rooms, expired);
    await rooms.admit(accessAttempt(code));
    await rooms.expireRooms(start + 2 * hour, 100);
    const later = start + hour + day;
    await rooms.expireRooms(later, 100);
    const again = { ...draft(), draw: expired.draw, createdAt: later, expiresAt: later + hour };
    assert.equal(await rooms.createRoom(again), code);
    assert.equal((await rooms.admit(accessAttempt(code, { now: later }))).outcome, 'admitted');
  });
}

function lengthTests(open: OpenStore): void {
  const smallTable = [
    { length: 6, upTo: 2 },
    { length: 7, upTo: 4 },
    { length: 8, upTo: 1000 },
  ];

  async function lengthOfNext(rooms: RoomStore, over: Parameters<typeof draft>[0] = {}): Promise<number> {
    return (await createRoom(rooms, { codeLengths: smallTable, ...over })).length;
  }

  it('[CODE-2] uses the next length when one more room would be too many for the current one', async (t) => {
    const { rooms } = (await ownStore(t, open)).store;
    const lengths: number[] = [];
    for (let made = 0; made < 6; made++) lengths.push(await lengthOfNext(rooms));
    assert.deepEqual(lengths, [6, 6, 7, 7, 8, 8]);
  });

  it('[CODE-2] counts rooms that are created concurrently', async (t) => {
    const { rooms } = (await ownStore(t, open)).store;
    const lengths = await Promise.all(Array.from({ length: 6 }, () => lengthOfNext(rooms)));
    assert.deepEqual(lengths.sort(), [6, 6, 7, 7, 8, 8]);
  });

  it('[CODE-2] returns to shorter codes when rooms are deleted or expire, swept or not', async (t) => {
    const { rooms } = (await ownStore(t, open)).store;
    const deleted = await createRoom(rooms, { codeLengths: smallTable });
    await lengthOfNext(rooms, { expiresAt: start + hour });
    assert.equal(await lengthOfNext(rooms), 7);
    await rooms.deleteRoom(deleted, start);
    assert.equal(await lengthOfNext(rooms, { createdAt: start + hour }), 6);
    await rooms.expireRooms(start + hour, 100);
    assert.equal(await lengthOfNext(rooms, { createdAt: start + hour }), 7);
  });

  it('[CODE-2] gives six symbols to five rooms and seven to the sixth', async (t) => {
    const { rooms } = (await ownStore(t, open)).store;
    const lengths: number[] = [];
    for (let made = 0; made < 6; made++) {
      lengths.push((await createRoom(rooms, { codeLengths: codeLengths.plain })).length);
    }
    assert.deepEqual(lengths, [6, 6, 6, 6, 6, 7]);
  });

  it('[CODE-2] counts rooms of both kinds together, and gives encrypted ones one symbol more', async (t) => {
    const { rooms } = (await ownStore(t, open)).store;
    const lengths: number[] = [];
    for (const kind of [
      'encrypted',
      'plain',
      'encrypted',
      'plain',
      'plain',
      'encrypted',
      'plain',
      'encrypted',
    ] as const) {
      const code = await createRoom(rooms, { draw: drawSymbols(kind), codeLengths: codeLengths[kind] });
      lengths.push(code.length);
    }
    assert.deepEqual(lengths, [7, 6, 7, 6, 6, 7, 7, 8]);
  });

  it('counts the unexpired rooms', async (t) => {
    const { rooms } = (await ownStore(t, open)).store;
    assert.equal(await rooms.countRooms(start), 0);
    await createRoom(rooms, { expiresAt: start + hour });
    const deleted = await createRoom(rooms);
    await createRoom(rooms);
    assert.equal(await rooms.countRooms(start), 3);
    await rooms.deleteRoom(deleted, start);
    assert.equal(await rooms.countRooms(start), 2);
    assert.equal(await rooms.countRooms(start + hour), 1);
    await rooms.expireRooms(start + hour, 100);
    assert.equal(await rooms.countRooms(start + hour), 1);
  });
}

function entryTests(open: OpenStore): void {
  const store = sharedStore(open);

  it('[API-2] admits to a room and returns its creation, expiry and usage', async () => {
    const name = 'Office';
    const code = await createRoom(store.rooms, { name });
    await store.files.addFile(code, file({ size: 7 }), quota);
    await store.files.addFile(code, file({ size: 5 }), quota);
    assert.deepEqual(await store.rooms.admit(accessAttempt(code)), {
      outcome: 'admitted',
      room: { code, createdAt: start, expiresAt: start + day, hasPin: false, name, fileCount: 2, fileBytes: 12 },
    });
  });

  it('[CODE-5] finds no room for an unused or invalid code', async () => {
    assert.deepEqual(await store.rooms.admit(accessAttempt(unknownCode())), { outcome: 'unknown' });
    assert.deepEqual(await store.rooms.admit(accessAttempt(undefined)), { outcome: 'unknown' });
  });

  it('[PIN-2] requires the PIN of a protected room, rejects a wrong one and accepts the correct one', async () => {
    const code = await createRoom(store.rooms, { pinMac: mac('0427') });
    assert.deepEqual(await store.rooms.admit(accessAttempt(code)), { outcome: 'pin-required' });
    assert.deepEqual(await store.rooms.admit(accessAttempt(code, { pinMac: mac('0428') })), {
      outcome: 'pin-incorrect',
      triesLeft: 4,
      lockedUntil: undefined,
    });
    const admission = await store.rooms.admit(accessAttempt(code, { pinMac: mac('0427') }));
    assert.ok(admission.outcome === 'admitted' && admission.room.hasPin);
  });

  it('[PIN-6] does not reveal the PIN to admitted clients', async () => {
    const name = 'Office';
    const code = await createRoom(store.rooms, { pinMac: mac('0427'), name });
    const admission = await store.rooms.admit(accessAttempt(code, { pinMac: mac('0427') }));
    assert.deepEqual(admission, {
      outcome: 'admitted',
      room: { code, createdAt: start, expiresAt: start + day, hasPin: true, name, fileCount: 0, fileBytes: 0 },
    });
  });

  it('[LIVE-22] returns the PIN hash with the state of a room', async () => {
    const pinMac = mac('0427');
    for (const given of [pinMac, undefined]) {
      const state = await store.rooms.readState(await createRoom(store.rooms, { pinMac: given }), start);
      assert.ok(typeof state === 'object');
      assert.deepEqual(state.pinMac && Buffer.from(state.pinMac), given && Buffer.from(given));
    }
  });

  it('[PIN-4] ignores a PIN for a room that has none', async () => {
    const code = await createRoom(store.rooms);
    const client = 'pin-for-nothing';
    for (let tries = 0; tries < 30; tries++) {
      const admission = await store.rooms.admit(accessAttempt(code, { client, pinMac: mac('0427') }));
      assert.equal(admission.outcome, 'admitted');
    }
  });
}

function deviceTests(open: OpenStore): void {
  const store = sharedStore(open, { ...guardRules(0), devicesPerRoom: 5 });
  const enter = (code: RoomCode, over: Partial<AccessAttempt>) => store.rooms.admit(accessAttempt(code, over));

  it('[DEV-1] counts each device once, however often it is seen', async () => {
    const code = await createRoom(store.rooms);
    assert.equal((await store.rooms.listDevices(code, start)).length, 0);
    for (const deviceId of ['phone', 'laptop', 'phone', 'phone']) await enter(code, { deviceId });
    await enter(code, {});
    assert.equal((await store.rooms.listDevices(code, start)).length, 2);
  });

  it('[DEV-1] counts the devices of each room separately', async () => {
    const [one, other] = [await createRoom(store.rooms), await createRoom(store.rooms)];
    await enter(one, { deviceId: 'phone' });
    await enter(other, { deviceId: 'phone' });
    await enter(other, { deviceId: 'laptop' });
    assert.equal((await store.rooms.listDevices(one, start)).length, 1);
    assert.equal((await store.rooms.listDevices(other, start)).length, 2);
  });

  it('[DEV-1] forgets a device 60 seconds after it was last seen', async () => {
    const code = await createRoom(store.rooms);
    await enter(code, { deviceId: 'phone' });
    await enter(code, { deviceId: 'laptop' });
    await enter(code, { deviceId: 'phone', now: start + 30 * second });
    assert.equal((await store.rooms.listDevices(code, start + 60 * second - 1)).length, 2);
    assert.equal((await store.rooms.listDevices(code, start + 60 * second + 1)).length, 1);
    assert.equal((await store.rooms.listDevices(code, start + 90 * second - 1)).length, 1);
    assert.equal((await store.rooms.listDevices(code, start + 90 * second + 1)).length, 0);
  });

  it('[DEV-1] counts a device again when it returns', async () => {
    const code = await createRoom(store.rooms);
    await enter(code, { deviceId: 'phone' });
    assert.equal((await store.rooms.listDevices(code, start + 61 * second)).length, 0);
    await enter(code, { deviceId: 'phone', now: start + 61 * second });
    assert.equal((await store.rooms.listDevices(code, start + 61 * second)).length, 1);
  });

  it('[DEV-1] [DEV-3] counts the device of a channel until it is detached, or 42 seconds after it was last renewed', async () => {
    const code = await createRoom(store.rooms);
    const [phone, laptop] = ['phone', 'laptop'].map((id) => ({ id: `channel of ${id}`, device: { id, name: id } }));
    assert.ok(phone && laptop);
    const devicesAfter = (seconds: number) => store.rooms.listDevices(code, start + seconds * second);
    for (const channel of [phone, laptop]) await store.rooms.attachDevice(code, channel, start);
    assert.deepEqual(await devicesAfter(41), [phone.device, laptop.device]);
    await store.rooms.renewDevices(code, [laptop], start + 30 * second);
    assert.deepEqual(await devicesAfter(43), [laptop.device]);
    await store.rooms.detachDevice(code, laptop.id);
    assert.deepEqual(await devicesAfter(43), []);
  });

  it('[PEOPLE-1] gives each device a colour, which it keeps, and which no other takes while there are free ones', async () => {
    const code = await createRoom(store.rooms);
    const attach = async (id: string, color: number, channel = `channel of ${id}`) => {
      const device = await store.rooms.attachDevice(
        code,
        { id: channel, device: { id, name: undefined, color } },
        start,
      );
      return device === 'full' ? assert.fail('full') : device.color;
    };
    assert.equal(await attach('phone', 6), 6);
    assert.equal(await attach('laptop', 6), 7);
    assert.equal(await attach('phone', 2, 'second tab of phone'), 6);
    assert.equal(await attach('tablet', 6), 0, 'the next one after the last');
    const colors = (await store.rooms.listDevices(code, start)).map(({ id, color }) => [id, color]);
    assert.deepEqual(Object.fromEntries(colors), { phone: 6, laptop: 7, tablet: 0 });
    await store.rooms.detachDevice(code, 'channel of laptop');
    assert.equal(await attach('screen', 7), 1, 'that of the laptop, which may return');
    assert.equal(await attach('laptop', 7), 7);
    const plain = { id: 'channel of script', device: { id: 'script', name: undefined } };
    assert.deepEqual(await store.rooms.attachDevice(code, plain, start), plain.device);
    for (const id of ['phone', 'tablet', 'screen', 'laptop', 'script'])
      await store.rooms.detachDevice(code, `channel of ${id}`);
    await store.rooms.detachDevice(code, 'second tab of phone');
    // The colours of devices that left are forgotten before they are too many.
    for (const n of [0, 1, 2, 3, 4]) assert.ok(((await attach(`new ${n}`, n)) ?? 8) < 8);
    const used = (await store.rooms.listDevices(code, start)).map(({ color }) => color);
    assert.equal(new Set(used).size, 5);
  });

  it('[DEV-1] does not count a device that was not admitted', async () => {
    const code = await createRoom(store.rooms, { pinMac: mac('0427') });
    await enter(code, { deviceId: 'asked' });
    await enter(code, { deviceId: 'wrong', pinMac: mac('0000') });
    assert.equal((await store.rooms.listDevices(code, start)).length, 0);
    await enter(code, { deviceId: 'right', pinMac: mac('0427') });
    assert.equal((await store.rooms.listDevices(code, start)).length, 1);
  });

  it('keeps only the latest devices of a room, so that invented names cannot fill the memory', async () => {
    const code = await createRoom(store.rooms);
    for (let n = 0; n < 50; n++) await enter(code, { deviceId: `device-${n}`, now: start + n });
    assert.equal((await store.rooms.listDevices(code, start + 50)).length, 5);
    await enter(code, { deviceId: 'device-49', now: start + 50 });
    assert.equal((await store.rooms.listDevices(code, start + 50)).length, 5);
    assert.equal((await store.rooms.listDevices(code, start + 45 + 60 * second)).length, 4);
  });
}
