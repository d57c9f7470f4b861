/** Removed files: hidden until they are restored or erased. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { StoredFile } from '../../src/core/ports/files.ts';
import type { RoomCode } from '../../src/core/room-code.ts';
import {
  countedFiles,
  createRoom,
  eraseAll,
  file,
  hour,
  type OpenStore,
  ownStore,
  quota,
  type RoomStores,
  second,
  sharedStore,
  start,
} from './store-under-test.ts';

export function removalTests(open: OpenStore): void {
  describe('a removed file', () => removedTests(open));
  describe('a restored file', () => restoredTests(open));
  describe('erasing', () => erasureTests(open));
}

function removedTests(open: OpenStore): void {
  const store = sharedStore(open);

  it('[API-8] [UNDO-1] is no longer found or listed; the others are', async () => {
    const { rooms } = store;
    const { code, files } = await roomWith(store, [file(), file()]);
    const [removed, stays] = files as [StoredFile, StoredFile];
    assert.deepEqual(await store.files.removeFile(code, removed.id, start), { seq: 3 });
    assert.equal(await store.files.findFile(removed.id, start), undefined);
    assert.deepEqual(await store.files.findFile(stays.id, start), stays);
    assert.deepEqual(await store.files.listFiles(code, start), [stays]);
    const state = await rooms.readState(code, start);
    assert.deepEqual(typeof state === 'object' && [state.seq, state.files], [3, [stays]]);
    assert.equal(await store.files.removeFile(code, removed.id, start), 'no-file');
  });

  it('[UNDO-1] still counts in its room, for its owner and in total', async (t) => {
    const { store } = await ownStore(t, open);
    const { rooms, storage } = store;
    const owner = { client: 'client', network: 'network' };
    const { code, files } = await roomWith(store, [file({ size: 70, owner }), file({ size: 5, owner })]);
    await store.files.removeFile(code, (files[0] as StoredFile).id, start);
    assert.deepEqual(await countedFiles(rooms, code), { files: 2, bytes: 75 });
    assert.deepEqual([await storage.usageOf('client'), await storage.usageOf('network')], [75, 75]);
    assert.deepEqual(await storage.usage(), { stored: 75, reserved: 0 });
  });

  it('is removed once when 10 callers remove it concurrently', async () => {
    const { code, files } = await roomWith(store, [file()]);
    const [added] = files as [StoredFile];
    const removals = await Promise.all(Array.from({ length: 10 }, () => store.files.removeFile(code, added.id, start)));
    assert.equal(removals.filter((removal) => removal === 'no-file').length, 9);
    assert.equal(await store.files.eraseRemovedIn(code), 1);
    assert.deepEqual(await countedFiles(store.rooms, code), { files: 0, bytes: 0 });
  });

  it('is one of the room that was named', async () => {
    const { code, files } = await roomWith(store, [file()]);
    const [added] = files as [StoredFile];
    const other = await createRoom(store.rooms);
    assert.equal(await store.files.removeFile(other, added.id, start), 'no-file');
    assert.deepEqual(await store.files.findFile(added.id, start), added);
    await store.files.removeFile(code, added.id, start);
    assert.equal(await store.files.restoreFile(other, added.id, start), 'no-file');
    assert.equal(await store.files.eraseRemovedIn(other), 0);
    assert.deepEqual(await store.files.restoreFile(code, added.id, start), { seq: 3 });
  });

  it('[MOVE-1] is not part of the record of its room', async (t) => {
    const { code, files } = await roomWith(store, [file({ size: 1 }), file({ size: 2 })]);
    const [removed, stays] = files as [StoredFile, StoredFile];
    await store.files.removeFile(code, removed.id, start);
    const record = await store.archive.readRoom(code, start);
    assert.deepEqual(record?.files, [stays]);
    const other = (await ownStore(t, open)).store;
    assert.ok(record && (await other.archive.restoreRoom(record, start)) === 'restored');
    assert.deepEqual(await countedFiles(other.rooms, code), { files: 1, bytes: 2 });
    assert.equal(await other.files.restoreFile(code, removed.id, start), 'no-file');
  });

  it('[LIFE-6] can still be restored after a restart', async (t) => {
    const under = await ownStore(t, open);
    const { code, files } = await roomWith(under.store, [file()]);
    const [added] = files as [StoredFile];
    await under.store.files.removeFile(code, added.id, start);
    const store = await under.reopen(start);
    assert.deepEqual(await store.files.listFiles(code, start), []);
    assert.deepEqual(await store.files.restoreFile(code, added.id, start), { seq: 3 });
    assert.deepEqual(await store.files.findFile(added.id, start), added);
  });
}

function restoredTests(open: OpenStore): void {
  const store = sharedStore(open);

  it('[UNDO-1] is found and listed at its previous position', async () => {
    const { rooms } = store;
    const moments = [start, start + second, start + second, start + second, start + 2 * second];
    const { code, files } = await roomWith(
      store,
      moments.map((uploadedAt, n) => file({ name: `${n}`, folder: 'a/b', deviceId: 'phone', uploadedAt })),
    );
    for (const { id } of files) await store.files.removeFile(code, id, start + 3 * second);
    assert.deepEqual(await store.files.listFiles(code, start + 3 * second), []);
    for (const { id } of files.toReversed()) await store.files.restoreFile(code, id, start + 4 * second);
    assert.deepEqual(await store.files.listFiles(code, start + 4 * second), files);
    for (const one of files) assert.deepEqual(await store.files.findFile(one.id, start), one);
    const state = await rooms.readState(code, start + 4 * second);
    assert.deepEqual(typeof state === 'object' && [state.seq, state.files], [15, files]);
    assert.deepEqual(await countedFiles(rooms, code), { files: 5, bytes: 5000 });
  });

  it('[UNDO-1] was removed and not erased before', async () => {
    const { code, files } = await roomWith(store, [file()]);
    const [added] = files as [StoredFile];
    assert.equal(await store.files.restoreFile(code, added.id, start), 'no-file');
    assert.equal(await store.files.restoreFile(code, file().id, start), 'no-file');
    await store.files.removeFile(code, added.id, start);
    await eraseAll(store.files);
    assert.equal(await store.files.restoreFile(code, added.id, start), 'no-file');
    assert.deepEqual(await store.files.removeFile(code, added.id, start), 'no-file');
  });

  it('[UNDO-1] is restored once when 10 callers restore it concurrently', async () => {
    const { code, files } = await roomWith(store, [file()]);
    const [added] = files as [StoredFile];
    await store.files.removeFile(code, added.id, start);
    const restored = await Promise.all(
      Array.from({ length: 10 }, () => store.files.restoreFile(code, added.id, start)),
    );
    assert.equal(restored.filter((outcome) => outcome === 'no-file').length, 9);
    assert.deepEqual(await store.files.listFiles(code, start), [added]);
  });

  it('[UNDO-2] is erased by no sweep, and its next removal counts from its own time', async (t) => {
    const { store } = await ownStore(t, open);
    const { code, files } = await roomWith(store, [file()]);
    const [added] = files as [StoredFile];
    await store.files.removeFile(code, added.id, start);
    await store.files.restoreFile(code, added.id, start + second);
    assert.equal(await store.files.eraseRemoved(start + hour, 10), 0);
    await store.files.removeFile(code, added.id, start + hour);
    assert.equal(await store.files.eraseRemoved(start + hour, 10), 0);
    assert.equal(await store.files.eraseRemoved(start + hour + 1, 10), 1);
  });
}

function erasureTests(open: OpenStore): void {
  it('[UNDO-2] affects the files that were removed before a moment, at most the given number', async (t) => {
    const { store } = await ownStore(t, open);
    const { rooms } = store;
    const codes: RoomCode[] = [];
    const removed: StoredFile[] = [];
    for (let n = 0; n < 6; n++) {
      const { code, files } = await roomWith(store, [file({ size: 10 }), file({ size: 1 })]);
      codes.push(code);
      removed.push(files[0] as StoredFile);
      await store.files.removeFile(code, removed[n]?.id ?? '', start + n * second);
    }
    for (const code of codes) assert.deepEqual(await countedFiles(rooms, code), { files: 2, bytes: 11 });
    const counts: number[] = [];
    for (let n = 0; n < 4; n++) counts.push(await store.files.eraseRemoved(start + 5 * second, 2));
    assert.deepEqual(counts, [2, 2, 1, 0]);
    const erased = removed.slice(0, 5);
    assert.deepEqual((await store.trash.listTrash(100)).sort(), erased.map(({ blob }) => blob).sort());
    for (const code of codes.slice(0, 5)) assert.deepEqual(await countedFiles(rooms, code), { files: 1, bytes: 1 });
    assert.deepEqual(await countedFiles(rooms, codes[5] as RoomCode), { files: 2, bytes: 11 });
    const state = await rooms.readState(codes[0] as RoomCode, start);
    assert.equal(typeof state === 'object' && state.seq, 3, 'nothing changed for the members of the room');
  });

  it('[UNDO-2] ends the charges of the owner when the bytes are removed', async (t) => {
    const { store } = await ownStore(t, open);
    const { rooms, storage } = store;
    const owner = { client: 'client', network: undefined };
    const { code, files } = await roomWith(store, [file({ size: 70, owner }), file({ size: 0, owner })]);
    for (const { id } of files) await store.files.removeFile(code, id, start);
    assert.equal(await eraseAll(store.files), 2);
    await store.trash.clearTrash(await store.trash.listTrash(10));
    assert.equal(await storage.usageOf('client'), 0);
    assert.deepEqual(await storage.usage(), { stored: 0, reserved: 0 });
    assert.deepEqual(await countedFiles(rooms, code), { files: 0, bytes: 0 });
  });

  it('[UNDO-2] affects all removed files of one room, however recent', async (t) => {
    const { store } = await ownStore(t, open);
    const { rooms } = store;
    const { code, files } = await roomWith(store, [file(), file(), file()]);
    const other = await roomWith(store, [file()]);
    const [one, two, listed] = files as [StoredFile, StoredFile, StoredFile];
    for (const { id } of [one, two]) await store.files.removeFile(code, id, start);
    await store.files.removeFile(other.code, (other.files[0] as StoredFile).id, start);
    assert.equal(await store.files.eraseRemovedIn(code), 2);
    assert.equal(await store.files.eraseRemovedIn(code), 0);
    assert.deepEqual((await store.trash.listTrash(100)).sort(), [one.blob, two.blob].sort());
    assert.deepEqual(await store.files.listFiles(code, start), [listed]);
    assert.deepEqual(await countedFiles(rooms, other.code), { files: 1, bytes: 1000 });
    assert.equal(await eraseAll(store.files), 1);
  });

  it('[UNDO-2] drops each file once when two sweeps run concurrently', async (t) => {
    const { store } = await ownStore(t, open);
    const { rooms } = store;
    const { code, files } = await roomWith(
      store,
      Array.from({ length: 10 }, () => file({ size: 3 })),
    );
    for (const { id } of files) await store.files.removeFile(code, id, start);
    const counts = await Promise.all([eraseAll(store.files), eraseAll(store.files), store.files.eraseRemovedIn(code)]);
    assert.equal(
      counts.reduce((sum, count) => sum + count),
      10,
    );
    assert.deepEqual(await countedFiles(rooms, code), { files: 0, bytes: 0 });
  });

  it('[LIFE-5] has nothing left to do in a room that has ended', async (t) => {
    const { store } = await ownStore(t, open);
    const { rooms } = store;
    const { code, files } = await roomWith(store, [file(), file()], start + hour);
    const deleted = await roomWith(store, [file()]);
    await store.files.removeFile(code, (files[0] as StoredFile).id, start);
    await store.files.removeFile(deleted.code, (deleted.files[0] as StoredFile).id, start);
    await rooms.deleteRoom(deleted.code, start);
    await rooms.expireRooms(start + hour, 10);
    const blobs = [...files, ...deleted.files].map(({ blob }) => blob);
    assert.deepEqual((await store.trash.listTrash(100)).sort(), blobs.sort());
    assert.equal(await eraseAll(store.files), 0);
    assert.equal(await store.files.eraseRemovedIn(code), 0);
  });
}

async function roomWith(store: RoomStores, files: StoredFile[], expiresAt?: number) {
  const code = await createRoom(store.rooms, expiresAt === undefined ? {} : { expiresAt });
  for (const added of files) await store.files.addFile(code, added, quota);
  return { code, files };
}
