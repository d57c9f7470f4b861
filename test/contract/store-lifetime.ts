/** The end of rooms: by expiry, by the sweep, by deletion. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MissingReason } from '../../src/core/ports/basics.ts';
import type { RoomStore } from '../../src/core/ports/rooms.ts';
import type { RoomCode } from '../../src/core/room-code.ts';
import {
  accessAttempt,
  createRoom,
  currentText,
  day,
  file,
  hour,
  insertion,
  mac,
  manyMisses,
  type OpenStore,
  ownStore,
  quota,
  type RoomStores,
  roomUpdate,
  sharedStore,
  start,
  textAppend,
  textOf,
  unfinishedFile,
  unknownCode,
  writeText,
} from './store-under-test.ts';

export function lifetimeTests(open: OpenStore): void {
  describe('the end of a room', () => endTests(open));
  describe('the sweep', () => sweepTests(open));
}

function endTests(open: OpenStore): void {
  const store = sharedStore(open, manyMisses);
  const outcomeAt = async (code: RoomCode, now: number) =>
    (await store.rooms.admit(accessAttempt(code, { now }))).outcome;

  it('[LIFE-2] rejects a room from the moment it expires', async () => {
    const code = await createRoom(store.rooms, { expiresAt: start + hour });
    assert.equal(await outcomeAt(code, start + hour - 1), 'admitted');
    assert.equal(await outcomeAt(code, start + hour), 'expired');
    assert.equal(await outcomeAt(code, start + hour + day - 1), 'expired');
  });

  it('[LIFE-2] reports that it has expired, not that a PIN is missing or wrong', async () => {
    const code = await createRoom(store.rooms, { expiresAt: start + hour, pinMac: mac('0427') });
    for (const pinMac of [undefined, mac('0000'), mac('0427')]) {
      const admission = await store.rooms.admit(accessAttempt(code, { pinMac, now: start + hour }));
      assert.deepEqual(admission, { outcome: 'expired' });
    }
  });

  it('[LIFE-2] reports an expired room in every operation', async () => {
    const code = await createRoom(store.rooms, { expiresAt: start + hour });
    const kept = file();
    await store.files.addFile(code, kept, quota);
    await assertThere(store.rooms, code);
    await assertOver(store, code, kept.id, start + hour, 'expired');
    await store.rooms.expireRooms(start + hour, 100);
    await assertOver(store, code, kept.id, start + hour + day - 1, 'expired');
  });

  for (const { name, run } of operations) {
    it(`[LIFE-2] [LIFE-3] reports to an attempt to ${name} that it has expired, for 24 hours`, async () => {
      const make = () => createRoom(store.rooms, { expiresAt: start + hour });
      assert.equal(await run(store, await make(), start + hour), 'expired');
      assert.equal(await run(store, await make(), start + hour + day - 1), 'expired');
      assert.equal(await run(store, await make(), start + hour + day), 'gone');
    });
  }

  it('[LIFE-3] no longer knows an expired room after 24 hours', async () => {
    const code = await createRoom(store.rooms, { expiresAt: start + hour });
    assert.equal(await outcomeAt(code, start + hour + day), 'unknown');
  });

  it('[LIFE-2] [LIFE-3] reports the same when a sweep has run in between', async () => {
    const code = await createRoom(store.rooms, { expiresAt: start + hour });
    await assertThere(store.rooms, code);
    await store.rooms.expireRooms(start + hour, 100);
    assert.equal(await outcomeAt(code, start + hour), 'expired');
    assert.equal(await outcomeAt(code, start + hour + day - 1), 'expired');
    assert.equal(await outcomeAt(code, start + hour + day), 'unknown');
    await store.rooms.expireRooms(start + hour + day, 100);
    assert.equal(await outcomeAt(code, start + hour + day), 'unknown');
  });

  it('[LIFE-4] [API-3] no longer knows a deleted room, nor anything in it', async () => {
    const code = await createRoom(store.rooms);
    const kept = file();
    await writeText(store.texts, code, 'secret');
    await store.files.addFile(code, kept, quota);
    await assertThere(store.rooms, code);
    assert.deepEqual(await store.rooms.deleteRoom(code, start), { seq: 3 });
    assert.equal(await outcomeAt(code, start), 'unknown');
    await assertOver(store, code, kept.id, start, 'gone');
  });

  it('reports an unknown room in every operation', async () => {
    await assertOver(store, unknownCode(), file().id, start, 'gone');
  });

  it('deletes a room once when 10 callers delete it concurrently', async () => {
    const code = await createRoom(store.rooms);
    const deletions = await Promise.all(Array.from({ length: 10 }, () => store.rooms.deleteRoom(code, start)));
    assert.deepEqual(
      deletions.filter((deletion) => deletion !== 'gone'),
      [{ seq: 1 }],
    );
  });
}

/** A store may remember what was looked at; that must not outlive the room. */
async function assertThere(rooms: RoomStore, code: RoomCode): Promise<void> {
  for (let looks = 0; looks < 2; looks++) {
    assert.equal((await rooms.admit(accessAttempt(code))).outcome, 'admitted');
    assert.ok(await textOf(rooms, code, start));
  }
}

async function assertOver(
  store: RoomStores,
  code: RoomCode,
  fileId: string,
  now: number,
  why: MissingReason,
): Promise<void> {
  assert.equal(await textOf(store.rooms, code, now), undefined);
  assert.equal(await store.files.findFile(fileId, now), undefined);
  for (const { name, run } of operations) assert.equal(await run(store, code, now, fileId), why, name);
}

interface Operation {
  name: string;
  /** Why it could not be done. */
  run(store: RoomStores, code: RoomCode, now: number, fileId?: string): Promise<unknown>;
}

/** All that follow on an admission, and may find that the room ended after it. */
const operations: readonly Operation[] = [
  { name: 'read the state', run: (store, code, now) => store.rooms.readState(code, now) },
  { name: 'read the text', run: (store, code, now) => store.texts.readText(code, now) },
  {
    name: 'edit the text',
    run: async (store, code, now) => {
      const append = textAppend(insertion(1, 'late', { writtenAt: now }));
      return (await store.texts.appendText(code, append)).outcome;
    },
  },
  { name: 'list the history', run: (store, code, now) => store.texts.listHistory(code, now) },
  { name: 'read a checkpoint', run: (store, code, now) => store.texts.readCheckpoint(code, 1, now) },
  { name: 'clear the history', run: (store, code, now) => store.texts.clearHistory(code, currentText('', 0), now) },
  { name: 'add a file', run: (store, code, now) => store.files.addFile(code, file({ uploadedAt: now }), quota) },
  { name: 'list the files', run: (store, code, now) => store.files.listFiles(code, now) },
  { name: 'remove a file', run: (store, code, now, fileId = file().id) => store.files.removeFile(code, fileId, now) },
  { name: 'restore a file', run: (store, code, now, fileId = file().id) => store.files.restoreFile(code, fileId, now) },
  {
    name: 'start an upload',
    run: (store, code, now) => store.uploads.startUpload(code, unfinishedFile({ uploadedAt: now }), quota),
  },
  { name: 'find an upload', run: (store, code, now) => store.uploads.findUpload(code, file().id, now) },
  {
    name: 'advance an upload',
    run: (store, code, now) => store.uploads.advanceUpload(code, file().id, 0, { received: 1, state: '' }, now),
  },
  { name: 'finish an upload', run: (store, code, now) => store.uploads.finishUpload(code, file().id, now) },
  { name: 'cancel an upload', run: (store, code, now) => store.uploads.cancelUpload(code, file().id, now) },
  { name: 'change it', run: (store, code, now) => store.rooms.updateRoom(code, roomUpdate({ name: 'late' }), now) },
  { name: 'delete it', run: (store, code, now) => store.rooms.deleteRoom(code, now) },
];

function sweepTests(open: OpenStore): void {
  it('[LIFE-5] ends at most the given number of expired rooms, and no others', async (t) => {
    const { rooms } = (await ownStore(t, open)).store;
    const expired = new Set<RoomCode>();
    for (let n = 0; n < 5; n++) expired.add(await createRoom(rooms, { expiresAt: start + hour - n }));
    const live = await createRoom(rooms, { expiresAt: start + hour + 1 });

    const portions: RoomCode[][] = [];
    for (let n = 0; n < 4; n++) portions.push(await rooms.expireRooms(start + hour, 2));
    assert.deepEqual(
      portions.map(({ length }) => length),
      [2, 2, 1, 0],
    );
    assert.deepEqual(new Set(portions.flat()), expired);
    assert.equal((await rooms.admit(accessAttempt(live, { now: start + hour }))).outcome, 'admitted');
  });

  it('[LIFE-5] moves the bytes of the rooms it ends to the trash, and only theirs', async (t) => {
    const { store } = await ownStore(t, open);
    const { rooms } = store;
    const [first, second, stays] = [file(), file(), file()];
    const expired = await createRoom(rooms, { expiresAt: start + hour });
    await store.files.addFile(expired, first, quota);
    await store.files.addFile(expired, second, quota);
    await store.files.addFile(await createRoom(rooms), stays, quota);

    assert.deepEqual(await rooms.expireRooms(start + hour, 100), [expired]);
    assert.deepEqual((await store.trash.listTrash(100)).sort(), [first.blob, second.blob].sort());
  });

  it('[LIFE-5] ends each room once when two sweeps run concurrently', async (t) => {
    const { rooms } = (await ownStore(t, open)).store;
    for (let n = 0; n < 10; n++) await createRoom(rooms, { expiresAt: start + hour });
    const sweeps = await Promise.all([rooms.expireRooms(start + hour, 7), rooms.expireRooms(start + hour, 7)]);
    assert.equal(sweeps.flat().length, 10);
    assert.equal(new Set(sweeps.flat()).size, 10);
  });
}
