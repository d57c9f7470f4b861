/** Bytes that no file references: all of them are listed, and none that is still in use. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { StoredFile } from '../../src/core/ports/files.ts';
import type { RoomCode } from '../../src/core/room-code.ts';
import {
  createRoom,
  eraseAll,
  file,
  type OpenStore,
  ownStore,
  quota,
  type RoomStores,
  sharedStore,
  start,
} from './store-under-test.ts';

export function trashTests(open: OpenStore): void {
  describe('the trash', () => {
    const store = sharedStore(open);
    const inTrash = async (files: StoredFile[]) => {
      const trash = new Set(await store.trash.listTrash(1000));
      return files.filter(({ blob }) => trash.has(blob));
    };

    it('[UNDO-2] holds the bytes of a removed file when it is erased, not before', async () => {
      const code = await createRoom(store.rooms);
      const [removed, kept] = await addFiles(store, code, 2);
      assert.deepEqual(await inTrash([removed, kept]), []);
      await store.files.removeFile(code, removed.id, start);
      assert.deepEqual(await inTrash([removed, kept]), []);
      await eraseAll(store.files);
      assert.deepEqual(await inTrash([removed, kept]), [removed]);
    });

    it('[API-3] holds the bytes of all files of a room that was deleted, also of removed ones, and of no other', async () => {
      const code = await createRoom(store.rooms);
      const files = await addFiles(store, code, 3);
      await store.files.removeFile(code, files[1].id, start);
      const others = await addFiles(store, await createRoom(store.rooms), 1);
      await store.rooms.deleteRoom(code, start);
      assert.deepEqual(await inTrash([...files, ...others]), files);
    });

    it('can be cleared of names that are not in it', async () => {
      const code = await createRoom(store.rooms);
      const [kept] = await addFiles(store, code, 1);
      await store.trash.clearTrash([]);
      await store.trash.clearTrash(blobsOf([file(), kept]));
      assert.deepEqual(await store.files.listFiles(code, start), [kept]);
    });

    it('is listed in batches and cleared by name', async (t) => {
      const { store } = await ownStore(t, open);
      const { rooms } = store;
      const code = await createRoom(rooms);
      const blobs = new Set(blobsOf(await addFiles(store, code, 5)));
      await rooms.deleteRoom(code, start);

      const portion = await store.trash.listTrash(2);
      assert.equal(portion.length, 2);
      await store.trash.clearTrash(portion);
      const rest = await store.trash.listTrash(100);
      assert.deepEqual(new Set([...portion, ...rest]), blobs);
      assert.equal(rest.length, 3);
      await store.trash.clearTrash(rest);
      assert.deepEqual(await store.trash.listTrash(100), []);
    });
  });

  describe('known blobs', () => {
    const store = sharedStore(open);

    it('[LIFE-5] are those of files, also of removed ones, and those in the trash, until they are cleared', async () => {
      const { rooms } = store;
      const code = await createRoom(rooms);
      const [removed, kept] = await addFiles(store, code, 2);
      const asked = blobsOf([removed, kept, file()]);
      await store.files.removeFile(code, removed.id, start);
      assert.deepEqual(await store.trash.knownBlobs(asked), new Set([removed.blob, kept.blob]));
      await store.files.eraseRemovedIn(code);
      assert.deepEqual(await store.trash.knownBlobs(asked), new Set([removed.blob, kept.blob]));
      await store.trash.clearTrash([removed.blob]);
      assert.deepEqual(await store.trash.knownBlobs(asked), new Set([kept.blob]));
    });

    it('[LIFE-5] are found among many', async () => {
      const { rooms } = store;
      const files = await addFiles(store, await createRoom(rooms), 20);
      const strangers = Array.from({ length: 2000 }, () => file());
      const known = await store.trash.knownBlobs(blobsOf([...strangers, ...files]));
      assert.deepEqual(known, new Set(blobsOf(files)));
      assert.deepEqual(await store.trash.knownBlobs([]), new Set());
    });
  });
}

type Files = [StoredFile, StoredFile, ...StoredFile[]];

async function addFiles(store: RoomStores, code: RoomCode, count: number): Promise<Files> {
  const files = Array.from({ length: count }, () => file()) as Files;
  await Promise.all(files.map((added) => store.files.addFile(code, added, quota)));
  return files;
}

function blobsOf(files: readonly StoredFile[]): string[] {
  return files.map(({ blob }) => blob);
}
