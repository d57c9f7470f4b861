/** The files of a room, and their limits. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FileQuota } from '../../src/core/ports/files.ts';
import type { RoomCode } from '../../src/core/room-code.ts';
import {
  countedFiles,
  createRoom,
  eraseAll,
  file,
  type OpenStore,
  quota,
  second,
  sharedStore,
  start,
} from './store-under-test.ts';

export function fileTests(open: OpenStore): void {
  describe('records', () => recordTests(open));
  describe('the quota of a room', () => quotaTests(open));
}

function recordTests(open: OpenStore): void {
  const store = sharedStore(open);

  it('[API-8] lists the files of a room, oldest first, as they were added', async () => {
    const code = await createRoom(store.rooms);
    const late = file({ name: 'late.txt', uploadedAt: start + 2 * second });
    const early = file({ name: '', type: 'application/octet-stream', size: 0, uploadedAt: start });
    const between = file({ name: 'ünï 👍🏽 "quoted".pdf', size: 10 * 1024 * 1024, uploadedAt: start + second });
    for (const added of [late, early, between]) await store.files.addFile(code, added, quota);
    assert.deepEqual(await store.files.listFiles(code, start + 3 * second), [early, between, late]);
  });

  it('[API-8] lists files with the same time in the order they were added', async () => {
    const code = await createRoom(store.rooms);
    const files = Array.from({ length: 10 }, (_, n) => file({ name: `${n}` }));
    for (const added of files) await store.files.addFile(code, added, quota);
    assert.deepEqual(await store.files.listFiles(code, start), files);
  });

  it('lists nothing for a room without files', async () => {
    assert.deepEqual(await store.files.listFiles(await createRoom(store.rooms), start), []);
  });

  it('[FILE-1] finds a file by its id alone', async () => {
    const code = await createRoom(store.rooms);
    const [one, other] = [file(), file()];
    await store.files.addFile(code, one, quota);
    await store.files.addFile(code, other, quota);
    assert.deepEqual(await store.files.findFile(one.id, start), one);
    assert.deepEqual(await store.files.findFile(other.id, start), other);
    assert.equal(await store.files.findFile(file().id, start), undefined);
  });

  it('[FILE-1] [API-3] finds no file of a room that was deleted', async () => {
    const code = await createRoom(store.rooms);
    const added = file();
    await store.files.addFile(code, added, quota);
    await store.rooms.deleteRoom(code, start);
    assert.equal(await store.files.findFile(added.id, start), undefined);
  });

  it('[FILE-1] finds no file of a room from the moment it expires', async () => {
    const code = await createRoom(store.rooms, { expiresAt: start + second });
    const added = file();
    await store.files.addFile(code, added, quota);
    assert.deepEqual(await store.files.findFile(added.id, start + second - 1), added);
    assert.equal(await store.files.findFile(added.id, start + second), undefined);
  });

  it('keeps the folder and the device of a file', async () => {
    const code = await createRoom(store.rooms);
    const added = file({ folder: 'photos/2026 ünï', deviceId: 'phone' });
    await store.files.addFile(code, added, quota);
    assert.deepEqual(await store.files.findFile(added.id, start), added);
    assert.deepEqual(await store.files.listFiles(code, start), [added]);
  });
}

function quotaTests(open: OpenStore): void {
  const store = sharedStore(open);
  const add = (code: RoomCode, size: number, limit: FileQuota) => store.files.addFile(code, file({ size }), limit);

  it('[UP-3] accepts exactly the maximum number of files, including empty ones', async () => {
    const code = await createRoom(store.rooms);
    const limit = { files: 3, bytes: 1000 };
    for (let n = 0; n < 3; n++) assert.deepEqual(await add(code, 0, limit), { seq: n + 1 });
    assert.equal(await add(code, 0, limit), 'full');
    assert.deepEqual(await countedFiles(store.rooms, code), { files: 3, bytes: 0 });
  });

  it('[UP-3] accepts exactly the maximum number of bytes', async () => {
    const code = await createRoom(store.rooms);
    const limit = { files: 100, bytes: 1000 };
    assert.deepEqual(await add(code, 600, limit), { seq: 1 });
    assert.equal(await add(code, 401, limit), 'full');
    assert.deepEqual(await add(code, 400, limit), { seq: 2 });
    assert.equal(await add(code, 1, limit), 'full');
    assert.deepEqual(await add(code, 0, limit), { seq: 3 });
    assert.deepEqual(await countedFiles(store.rooms, code), { files: 3, bytes: 1000 });
  });

  it('[UP-3] keeps nothing of a rejected file', async () => {
    const code = await createRoom(store.rooms);
    const refused = file({ size: 1001 });
    assert.equal(await store.files.addFile(code, refused, { files: 100, bytes: 1000 }), 'full');
    assert.equal(await store.files.findFile(refused.id, start), undefined);
    assert.deepEqual(await store.trash.knownBlobs([refused.blob]), new Set());
  });

  it('[UP-3] [UNDO-2] has space again when a removed file is erased, not before', async () => {
    const code = await createRoom(store.rooms);
    const limit = { files: 1, bytes: 1000 };
    const first = file({ size: 1000 });
    await store.files.addFile(code, first, limit);
    await store.files.removeFile(code, first.id, start);
    assert.equal(await add(code, 0, limit), 'full');
    await eraseAll(store.files);
    assert.deepEqual(await countedFiles(store.rooms, code), { files: 0, bytes: 0 });
    assert.deepEqual(await add(code, 1000, limit), { seq: 3 });
  });

  it('[UP-3] never exceeds the number of files, however many are added concurrently', async () => {
    const code = await createRoom(store.rooms);
    const added = await Promise.all(Array.from({ length: 50 }, () => add(code, 1, { files: 10, bytes: 1000 })));
    assert.equal(added.filter((outcome) => outcome === 'full').length, 40);
    assert.deepEqual(await countedFiles(store.rooms, code), { files: 10, bytes: 10 });
    assert.equal((await store.files.listFiles(code, start)).length, 10);
  });

  it('[UP-3] reports the usage of a room as soon as a file is added or erased', async () => {
    const code = await createRoom(store.rooms);
    for (let n = 1; n <= 5; n++) {
      const added = file({ size: 10 });
      await store.files.addFile(code, added, quota);
      assert.deepEqual(await countedFiles(store.rooms, code), { files: 1, bytes: 10 });
      await store.files.removeFile(code, added.id, start);
      await (n % 2 ? eraseAll(store.files) : store.files.eraseRemovedIn(code));
      assert.deepEqual(await countedFiles(store.rooms, code), { files: 0, bytes: 0 });
    }
  });

  it('[UP-3] never exceeds the number of bytes, however many are added concurrently', async () => {
    const code = await createRoom(store.rooms);
    const added = await Promise.all(Array.from({ length: 50 }, () => add(code, 300, { files: 100, bytes: 1000 })));
    assert.equal(added.filter((outcome) => outcome === 'full').length, 47);
    assert.deepEqual(await countedFiles(store.rooms, code), { files: 3, bytes: 900 });
  });
}
