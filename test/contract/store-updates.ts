/** Changes of a room: when it expires, its PIN and its name. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { guardRules } from '../../src/core/limits.ts';
import type { Room } from '../../src/core/ports/basics.ts';
import type { StorageLimits } from '../../src/core/ports/clients.ts';
import type { RoomState, RoomStore, RoomUpdate } from '../../src/core/ports/rooms.ts';
import type { RoomCode } from '../../src/core/room-code.ts';
import {
  accessAttempt,
  checkpoint,
  createRoom,
  day,
  file,
  hour,
  keepCheckpoint,
  mac,
  manyMisses,
  newClient,
  type OpenStore,
  ownStore,
  quota,
  roomUpdate,
  second,
  sharedStore,
  start,
  textOf,
  unfinishedFile,
  unknownCode,
  writeText,
} from './store-under-test.ts';

const [first, other] = [mac('0427'), mac('1234')];
const unlimited: StorageLimits = { client: 10_000, network: Number.POSITIVE_INFINITY, total: Number.POSITIVE_INFINITY };

export function updateTests(open: OpenStore): void {
  describe('the name of a room', () => nameTests(open));
  describe('the expiry of a room', () => expiryTests(open));
  describe('what ends with a room', () => contentTests(open));
  describe('the PIN of a room', () => pinTests(open));
  describe('concurrent changes of a room', () => raceTests(open));
}

function nameTests(open: OpenStore): void {
  const store = sharedStore(open, manyMisses);

  it('[STAY-2] moves the expiry after a write only if the room extends itself, and only to a later time', async () => {
    const pinMac = mac('0427');
    const code = await createRoom(store.rooms, { expiresAt: start + hour, extendMs: hour, pinMac });
    const extend = (room: RoomCode, expiresAt: number) =>
      store.rooms.updateRoom(room, roomUpdate({ expiresAt, isExtension: true }), start);
    const extended = await extend(code, start + 2 * hour);
    assert.ok(typeof extended === 'object');
    assert.deepEqual([extended.room.expiresAt, extended.room.extendMs], [start + 2 * hour, hour]);
    assert.equal(await extend(code, start + 2 * hour), 'pin-changed');
    const record = await store.archive.readRoom(code, start);
    assert.equal(record?.extendMs, hour);
    await store.rooms.updateRoom(code, roomUpdate({ extendMs: null, admittedBy: pinMac }), start);
    assert.equal(await extend(code, start + 3 * hour), 'pin-changed');
    await store.rooms.updateRoom(code, roomUpdate({ extendMs: 2 * hour, admittedBy: pinMac }), start);
    const again = await extend(code, start + 3 * hour);
    assert.equal(typeof again === 'object' && again.room.extendMs, 2 * hour);
  });

  it('[CHANGE-3] is stored at the creation, changed and removed, and shown in all records', async () => {
    const code = await createRoom(store.rooms, { name: 'Küche 🍳' });
    assert.equal((await roomOf(store.rooms, code)).name, 'Küche 🍳');
    const { seq, room } = await changed(store.rooms, code, { name: 'Office' });
    assert.deepEqual([seq, room.name, (await roomOf(store.rooms, code)).name], [1, 'Office', 'Office']);
    const state = await stateOf(store.rooms, code);
    assert.deepEqual([state.seq, state.room], [1, room]);
    assert.equal((await store.archive.readRoom(code, start))?.name, 'Office');
    assert.equal((await changed(store.rooms, code, { name: null })).room.name, undefined);
    assert.equal((await roomOf(store.rooms, code)).name, undefined);
    assert.equal((await roomOf(store.rooms, await createRoom(store.rooms))).name, undefined);
  });

  it('[CHANGE-1] is changed without changing the rest', async () => {
    const code = await createRoom(store.rooms, { pinMac: first });
    await writeText(store.texts, code, 'text');
    const before = await stateOf(store.rooms, code);
    await changed(store.rooms, code, { name: 'Office', admittedBy: first });
    const room = { ...before.room, name: 'Office' };
    assert.deepEqual(await stateOf(store.rooms, code), { ...before, seq: before.seq + 1, room });
  });

  it('[MOVE-1] [CHANGE-3] moves to another store', async (t) => {
    const { archive } = (await ownStore(t, open)).store;
    const code = await createRoom(store.rooms, { name: 'Office' });
    const record = await store.archive.readRoom(code, start);
    assert.ok(record);
    assert.equal(await archive.restoreRoom(record, start), 'restored');
    assert.equal((await archive.readRoom(code, start))?.name, 'Office');
  });
}

function expiryTests(open: OpenStore): void {
  it('[CHANGE-2] is extended: the room and its text remain beyond the first expiry, also for the sweep', async (t) => {
    const { store } = await ownStore(t, open, manyMisses);
    const { rooms } = store;
    const code = await createRoom(rooms, { expiresAt: start + hour });
    await writeText(store.texts, code, 'text');
    const { room } = await changed(rooms, code, { expiresAt: start + 3 * hour });
    assert.equal(room.expiresAt, start + 3 * hour);
    assert.deepEqual(await rooms.expireRooms(start + 2 * hour, 100), []);
    assert.equal(await rooms.countRooms(start + 2 * hour), 1);
    assert.equal((await textOf(rooms, code, start + 3 * hour - 1))?.content, 'text');
    assert.equal(await outcomeAt(rooms, code, start + 3 * hour), 'expired');
    assert.equal(await rooms.countRooms(start + 3 * hour), 0);
  });

  it('[CHANGE-2] is shortened: the room expires and is swept at the new time, and is remembered from then', async (t) => {
    const { rooms } = (await ownStore(t, open, manyMisses)).store;
    const code = await createRoom(rooms, { expiresAt: start + 5 * day });
    await changed(rooms, code, { expiresAt: start + hour });
    assert.equal(await outcomeAt(rooms, code, start + hour - 1), 'admitted');
    assert.equal(await rooms.countRooms(start + hour), 0);
    assert.deepEqual(await rooms.expireRooms(start + hour, 100), [code]);
    assert.equal(await outcomeAt(rooms, code, start + hour + day - 1), 'expired');
    assert.equal(await outcomeAt(rooms, code, start + hour + day), 'unknown');
  });

  it('[CHANGE-2] cannot be changed after it, and a deleted room cannot be changed', async (t) => {
    const { rooms } = (await ownStore(t, open, manyMisses)).store;
    const late = roomUpdate({ expiresAt: start + day });
    const code = await createRoom(rooms, { expiresAt: start + hour });
    assert.equal(await rooms.updateRoom(code, late, start + hour), 'expired');
    assert.equal(await outcomeAt(rooms, code, start + hour), 'expired');
    const deleted = await createRoom(rooms);
    await rooms.deleteRoom(deleted, start);
    assert.equal(await rooms.updateRoom(deleted, late, start), 'gone');
    assert.equal(await rooms.updateRoom(unknownCode(), late, start), 'gone');
  });

  it('[CHANGE-2] is the same after a restart, with the clients that gave the correct PIN', async (t) => {
    const under = await ownStore(t, open, manyMisses);
    const client = newClient();
    const code = await createRoom(under.store.rooms, { expiresAt: start + hour, pinMac: first, creator: client });
    await changed(under.store.rooms, code, { expiresAt: start + day, name: 'Office', admittedBy: first });
    const { rooms, archive } = await under.reopen(start + 2 * hour);
    assert.deepEqual(await rooms.expireRooms(start + 2 * hour, 100), []);
    const record = await archive.readRoom(code, start + 2 * hour);
    assert.deepEqual([record?.expiresAt, record?.name, record?.trusted], [start + day, 'Office', [client]]);
  });
}

function contentTests(open: OpenStore): void {
  it('[CHANGE-2] moves the end of unfinished uploads, at most to their own', async (t) => {
    const { store } = await ownStore(t, open, manyMisses);
    const { rooms } = store;
    const code = await createRoom(rooms, { expiresAt: start + 2 * hour });
    const upload = unfinishedFile({ expiresAt: start + 2 * hour });
    await store.uploads.startUpload(code, upload, quota);
    const endAfter = async (expiresAt: number) => {
      await changed(rooms, code, { expiresAt });
      const found = await store.uploads.findUpload(code, upload.id, start);
      return typeof found === 'object' ? found.expiresAt : found;
    };
    assert.equal(await endAfter(start + hour), start + hour);
    assert.equal(await endAfter(start + 3 * hour), start + 3 * hour);
    assert.equal(await endAfter(start + 2 * day), start + day);
    assert.equal(await store.uploads.expireUploads(start + day - 1, 100), 0);
    assert.equal(await store.uploads.expireUploads(start + day, 100), 1);
  });

  it('[CHANGE-2] keeps files, the history and the charges of both as long as the room', async (t) => {
    const { store } = await ownStore(t, open, manyMisses);
    const { rooms, storage } = store;
    const owner = { client: 'client-hash', network: 'network-hash' };
    const code = await createRoom(rooms, { expiresAt: start + hour, owner, countsText: true });
    const kept = file({ owner });
    await store.files.addFile(code, kept, quota);
    await storage.chargeText({ code, owner, bytes: 500 }, unlimited, start);
    await keepCheckpoint(store.texts, code, checkpoint(0, 'earlier'));
    await changed(rooms, code, { expiresAt: start + 30 * day });

    const late = start + 20 * day;
    assert.equal((await store.files.findFile(kept.id, late))?.id, kept.id);
    assert.equal((await store.texts.listHistory(code, late)).length, 1);
    const request = { blob: 'another', expiresAt: late + hour, deadline: late + hour, least: 9000, most: 9000 };
    const refused = await storage.reserve({ ...request, owner }, unlimited, late);
    assert.deepEqual(refused.limit, { scope: 'client', used: 1500, maximum: 10_000, freesAt: start + 30 * day });
    for (const account of [owner.client, owner.network]) assert.equal(await storage.usageOf(account), 1500);
  });

  it('[CHANGE-2] reports the new time at which the bytes of a shortened room are free', async (t) => {
    const { store } = await ownStore(t, open, manyMisses);
    const { rooms, storage } = store;
    const owner = { client: 'client-hash', network: undefined };
    const code = await createRoom(rooms, { expiresAt: start + 5 * day, owner });
    await store.files.addFile(code, file({ owner, size: 9000 }), quota);
    await changed(rooms, code, { expiresAt: start + hour });
    const request = { blob: 'another', expiresAt: start + day, deadline: start + hour, least: 9000, most: 9000 };
    const refused = await storage.reserve({ ...request, owner }, unlimited, start);
    assert.equal(refused.limit?.freesAt, start + hour);
  });
}

function pinTests(open: OpenStore): void {
  const store = sharedStore(open, manyMisses);
  const tryPin = async (code: RoomCode, pinMac: Uint8Array | undefined, client = newClient()) =>
    (await store.rooms.admit(accessAttempt(code, { client, pinMac }))).outcome;

  it('[CHANGE-4] is set, changed and removed, for every later attempt', async () => {
    const code = await createRoom(store.rooms);
    assert.equal(await tryPin(code, undefined), 'admitted');
    assert.equal((await changed(store.rooms, code, { pinMac: first })).room.hasPin, true);
    assert.deepEqual(
      [await tryPin(code, undefined), await tryPin(code, other), await tryPin(code, first)],
      ['pin-required', 'pin-incorrect', 'admitted'],
    );
    await changed(store.rooms, code, { pinMac: other, admittedBy: first });
    assert.deepEqual([await tryPin(code, first), await tryPin(code, other)], ['pin-incorrect', 'admitted']);
    assert.deepEqual((await stateOf(store.rooms, code)).pinMac, Buffer.from(other));
    const { room } = await changed(store.rooms, code, { pinMac: null, admittedBy: other });
    assert.equal(room.hasPin, false);
    assert.deepEqual([await tryPin(code, undefined), await tryPin(code, first)], ['admitted', 'admitted']);
    assert.equal((await stateOf(store.rooms, code)).pinMac, undefined);
  });

  it('[CHANGE-4] ends the lock of a client, and trusts the client that changed it', async () => {
    const [guesser, member] = [newClient(), newClient()];
    const code = await createRoom(store.rooms, { pinMac: first });
    for (let tries = 0; tries < 5; tries++) await tryPin(code, other, guesser);
    assert.equal(await tryPin(code, first, guesser), 'pin-locked');
    await changed(store.rooms, code, { client: member, pinMac: other, admittedBy: first });
    assert.equal(await tryPin(code, other, guesser), 'admitted');
    for (let n = 0; n < guardRules(0).wrongPinsPerRoom; n++) await tryPin(code, first);
    assert.equal(await tryPin(code, other), 'pin-locked');
    assert.equal(await tryPin(code, other, member), 'admitted');
  });

  it('[CHANGE-2] keeps its locks and trusted clients when only the expiry moves', async () => {
    const [guesser, member] = [newClient(), newClient()];
    const code = await createRoom(store.rooms, { pinMac: first, creator: member, expiresAt: start + 2 * second });
    for (let tries = 0; tries < 5; tries++) await tryPin(code, other, guesser);
    await changed(store.rooms, code, { expiresAt: start + day, admittedBy: first });
    const later = start + 10 * second;
    const attempt = accessAttempt(code, { client: guesser, pinMac: first, now: later });
    assert.equal((await store.rooms.admit(attempt)).outcome, 'pin-locked');
    assert.deepEqual((await store.archive.readRoom(code, later))?.trusted, [member]);
  });
}

function raceTests(open: OpenStore): void {
  const store = sharedStore(open, manyMisses);

  it('[CHANGE-5] lets one of 10 concurrent changes of the PIN win, and rejects the others', async () => {
    const code = await createRoom(store.rooms, { pinMac: first });
    const pins = Array.from({ length: 10 }, (_, n) => mac(`500${n}`));
    const outcomes = await Promise.all(
      pins.map((pinMac) => store.rooms.updateRoom(code, roomUpdate({ pinMac, admittedBy: first }), start)),
    );
    const winners = pins.filter((_, n) => typeof outcomes[n] === 'object');
    assert.equal(winners.length, 1);
    assert.equal(outcomes.filter((outcome) => outcome === 'pin-changed').length, 9);
    assert.deepEqual((await stateOf(store.rooms, code)).pinMac, Buffer.from(winners[0] as Uint8Array));
  });

  it('[CHANGE-5] rejects a change that was admitted without the PIN that was set meanwhile', async () => {
    const code = await createRoom(store.rooms);
    await changed(store.rooms, code, { pinMac: first });
    assert.equal(await store.rooms.updateRoom(code, roomUpdate({ name: 'stranger' }), start), 'pin-changed');
    assert.equal((await stateOf(store.rooms, code)).room.name, undefined);
  });

  it('[CHANGE-5] gives each of 10 concurrent changes its own seq, and the room has one of their values', async () => {
    const code = await createRoom(store.rooms, { expiresAt: start + hour });
    const changes = Array.from({ length: 10 }, (_, n) => ({ expiresAt: start + (n + 2) * hour, name: `name ${n}` }));
    const outcomes = await Promise.all(changes.map((change) => changed(store.rooms, code, change)));
    assert.equal(new Set(outcomes.map(({ seq }) => seq)).size, 10);
    const { room } = await stateOf(store.rooms, code);
    const winner = changes.find(({ expiresAt }) => expiresAt === room.expiresAt);
    assert.equal(room.name, winner?.name);
    assert.equal(await outcomeAt(store.rooms, code, room.expiresAt - 1), 'admitted');
  });

  it('[CHANGE-5] ends or extends a room that a sweep and a deletion compete for, but never loses it', async () => {
    for (let n = 0; n < 10; n++) {
      const code = await createRoom(store.rooms, { expiresAt: start + hour });
      const change = roomUpdate({ expiresAt: start + day });
      // The node of the sweep is an hour ahead of the others.
      const [outcome] = await Promise.all([
        store.rooms.updateRoom(code, change, start),
        store.rooms.expireRooms(start + hour, 100),
        ...(n % 2 ? [store.rooms.deleteRoom(code, start)] : []),
      ]);
      const exists = (await outcomeAt(store.rooms, code, start + hour)) === 'admitted';
      if (n % 2 === 0) assert.equal(exists, typeof outcome === 'object');
      // It can still be swept at its end.
      const swept = await store.rooms.expireRooms(start + day, 100);
      assert.equal(swept.includes(code), exists);
    }
  });
}

async function changed(rooms: RoomStore, code: RoomCode, over: Partial<RoomUpdate>) {
  const outcome = await rooms.updateRoom(code, roomUpdate(over), start);
  assert.ok(typeof outcome === 'object', `the change should be stored, but: ${JSON.stringify(outcome)}`);
  return outcome;
}

async function roomOf(rooms: RoomStore, code: RoomCode): Promise<Room> {
  const admission = await rooms.admit(accessAttempt(code));
  assert.ok(admission.outcome === 'admitted');
  return admission.room;
}

async function stateOf(rooms: RoomStore, code: RoomCode): Promise<RoomState> {
  const state = await rooms.readState(code, start);
  assert.ok(typeof state === 'object');
  return { ...state, pinMac: state.pinMac && Buffer.from(state.pinMac) };
}

const outcomeAt = async (rooms: RoomStore, code: RoomCode, now: number) =>
  (await rooms.admit(accessAttempt(code, { now }))).outcome;
