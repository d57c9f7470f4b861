/** Bytes that no file references: all of them are listed, and none that is still in use. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RoomStore, StoredFile } from '../../src/core/ports.ts';
import type { RoomCode } from '../../src/core/room-code.ts';
import { createRoom, eraseAll, file, type OpenStore, ownStore, quota, sharedStore, start } from './store-under-test.ts';

export function trashTests(open: OpenStore): void {
  describe('the trash', () => {
    const store = sharedStore(open);
    const inTrash = async (files: StoredFile[]) => {
      const trash = new Set(await store.rooms.listTrash(1000));
      return files.filter(({ blob }) => trash.has(blob));
    };

    it('[UNDO-2] holds the bytes of a removed file when it is erased, not before', async () => {
      const code = await createRoom(store.rooms);
      const [removed, kept] = await addFiles(store.rooms, code, 2);
      assert.deepEqual(await inTrash([removed, kept]), []);
      await store.rooms.removeFile(code, removed.id, start);
      assert.deepEqual(await inTrash([removed, kept]), []);
      await eraseAll(store.rooms);
      assert.deepEqual(await inTrash([removed, kept]), [removed]);
    });

    it('[API-3] holds the bytes of all files of a room that was deleted, also of removed ones, and of no other', async () => {
      const code = await createRoom(store.rooms);
      const files = await addFiles(store.rooms, code, 3);
      await store.rooms.removeFile(code, files[1].id, start);
      const others = await addFiles(store.rooms, await createRoom(store.rooms), 1);
      await store.rooms.deleteRoom(code, start);
      assert.deepEqual(await inTrash([...files, ...others]), files);
    });

    it('can be cleared of names that are not in it', async () => {
      const code = await createRoom(store.rooms);
      const [kept] = await addFiles(store.rooms, code, 1);
      await store.rooms.clearTrash([]);
      await store.rooms.clearTrash(blobsOf([file(), kept]));
      assert.deepEqual(await store.rooms.listFiles(code, start), [kept]);
    });

    it('is listed in batches and cleared by name', async (t) => {
      const { rooms } = (await ownStore(t, open)).store;
      const code = await createRoom(rooms);
      const blobs = new Set(blobsOf(await addFiles(rooms, code, 5)));
      await rooms.deleteRoom(code, start);

      const portion = await rooms.listTrash(2);
      assert.equal(portion.length, 2);
      await rooms.clearTrash(portion);
      const rest = await rooms.listTrash(100);
      assert.deepEqual(new Set([...portion, ...rest]), blobs);
      assert.equal(rest.length, 3);
      await rooms.clearTrash(rest);
      assert.deepEqual(await rooms.listTrash(100), []);
    });

    it('belongs to the node that claimed it, until the claim is released', async (t) => {
      const { rooms } = (await ownStore(t, open)).store;
      const code = await createRoom(rooms);
      await addFiles(rooms, code, 3);
      await rooms.deleteRoom(code, start);
      const trash = await rooms.listTrash(100);
      assert.deepEqual(await rooms.claimTrash(trash, start), trash);
      await rooms.releaseTrash(trash);
      await rooms.releaseTrash([]);
      assert.deepEqual(await rooms.claimTrash(trash, start), trash);
      assert.deepEqual(new Set(await rooms.listTrash(100)), new Set(trash), 'a claim removes nothing');
    });
  });

  describe('known blobs', () => {
    const store = sharedStore(open);

    it('[LIFE-5] are those of files, also of removed ones, and those in the trash, until they are cleared', async () => {
      const { rooms } = store;
      const code = await createRoom(rooms);
      const [removed, kept] = await addFiles(rooms, code, 2);
      const asked = blobsOf([removed, kept, file()]);
      await rooms.removeFile(code, removed.id, start);
      assert.deepEqual(await rooms.knownBlobs(asked), new Set([removed.blob, kept.blob]));
      await rooms.eraseRemovedIn(code);
      assert.deepEqual(await rooms.knownBlobs(asked), new Set([removed.blob, kept.blob]));
      await rooms.clearTrash([removed.blob]);
      assert.deepEqual(await rooms.knownBlobs(asked), new Set([kept.blob]));
    });

    it('[LIFE-5] are found among many', async () => {
      const { rooms } = store;
      const files = await addFiles(rooms, await createRoom(rooms), 20);
      const strangers = Array.from({ length: 2000 }, () => file());
      const known = await rooms.knownBlobs(blobsOf([...strangers, ...files]));
      assert.deepEqual(known, new Set(blobsOf(files)));
      assert.deepEqual(await rooms.knownBlobs([]), new Set());
    });
  });
}

type Files = [StoredFile, StoredFile, ...StoredFile[]];

async function addFiles(rooms: RoomStore, code: RoomCode, count: number): Promise<Files> {
  const files = Array.from({ length: count }, () => file()) as Files;
  await Promise.all(files.map((added) => rooms.addFile(code, added, quota)));
  return files;
}

function blobsOf(files: readonly StoredFile[]): string[] {
  return files.map(({ blob }) => blob);
}
