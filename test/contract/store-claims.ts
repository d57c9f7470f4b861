/** Claims of one-time files: one at a time, until it expires, is released, or the file is received. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import type { FileClaim, StoredFile } from '../../src/core/ports/files.ts';
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
  unfinishedFile,
} from './store-under-test.ts';

export function claimTests(open: OpenStore): void {
  describe('a claim', () => openClaimTests(open));
  describe('a claimed file', () => claimedFileTests(open));
}

function openClaimTests(open: OpenStore): void {
  const store = sharedStore(open);

  it('[ONCE-4] is given to one of 20 concurrent callers', async () => {
    for (let round = 0; round < 10; round++) {
      const { code, added } = await roomWithOneTimeFile(store);
      const claims = Array.from({ length: 20 }, () => newClaim());
      const outcomes = await Promise.all(claims.map((claim) => store.files.claimFile(code, added.id, claim, start)));
      const winners = claims.filter((_, i) => Object.hasOwn(Object(outcomes[i]), 'claimed'));
      assert.equal(winners.length, 1);
      assert.deepEqual(await store.files.findClaim(added.id, start), winners[0]);
      const refused = outcomes.filter((outcome) => Object.hasOwn(Object(outcome), 'claimedUntil'));
      assert.deepEqual(refused, Array(19).fill({ claimedUntil: start + hour }));
    }
  });

  it('[ONCE-3] needs a listed one-time file of that room', async () => {
    const { rooms } = store;
    const { code, added } = await roomWithOneTimeFile(store);
    const ordinary = file();
    const unfinished = unfinishedFile({ once: true });
    await store.files.addFile(code, ordinary, quota);
    await store.uploads.startUpload(code, unfinished, quota);
    const other = await createRoom(rooms);
    const outcomeOf = (room: typeof code, id: string) => store.files.claimFile(room, id, newClaim(), start);
    assert.equal(await outcomeOf(code, ordinary.id), 'not-once');
    assert.equal(await outcomeOf(code, unfinished.id), 'no-file');
    assert.equal(await outcomeOf(code, file().id), 'no-file');
    assert.equal(await outcomeOf(other, added.id), 'no-file');
    assert.deepEqual(await outcomeOf(code, added.id), { claimed: added });
    await rooms.deleteRoom(other, start);
    assert.equal(await outcomeOf(other, added.id), 'gone');
  });

  it('[ONCE-6] ends when it expires or is released, and leaves the file as it was', async () => {
    const { code, added } = await roomWithOneTimeFile(store);
    const [first, later, third] = [newClaim(), newClaim(start + 2 * hour), newClaim(start + 9 * hour)];
    await store.files.claimFile(code, added.id, first, start);
    assert.deepEqual(await store.files.findClaim(added.id, start + hour - 1), first);
    assert.equal(await store.files.findClaim(added.id, start + hour), undefined);
    assert.deepEqual(await store.files.claimFile(code, added.id, later, start + hour), { claimed: added });
    assert.equal(
      await store.files.releaseClaim(code, first.hash, start + hour),
      'no-claim',
      'another claim replaced it',
    );
    assert.equal(await store.files.releaseClaim(code, later.hash, start + hour), 'released');
    assert.equal(await store.files.releaseClaim(code, later.hash, start + hour), 'no-claim');
    assert.equal(await store.files.findClaim(added.id, start + hour), undefined);
    assert.deepEqual(await store.files.claimFile(code, added.id, third, start + hour), { claimed: added });
    assert.deepEqual(await store.files.listFiles(code, start + hour), [added]);
  });

  it('[ONCE-9] survives a restart', async (t) => {
    const under = await ownStore(t, open);
    const { code, added } = await roomWithOneTimeFile(under.store);
    const claim = newClaim();
    await under.store.files.claimFile(code, added.id, claim, start);
    const store = await under.reopen(start + second);
    assert.deepEqual(await store.files.findClaim(added.id, start + second), claim);
    assert.deepEqual(await store.files.claimFile(code, added.id, newClaim(), start), { claimedUntil: claim.expiresAt });
    const received = await store.files.receiveFile(code, claim.hash, start + second);
    assert.deepEqual(received, { seq: 2, fileId: added.id });
  });

  it('[ONCE-9] [MOVE-1] is not moved with its file', async (t) => {
    const { code, added } = await roomWithOneTimeFile(store);
    await store.files.claimFile(code, added.id, newClaim(), start);
    const record = await store.archive.readRoom(code, start);
    assert.deepEqual(record?.files, [added]);
    const other = (await ownStore(t, open)).store;
    assert.ok(record && (await other.archive.restoreRoom(record, start)) === 'restored');
    assert.deepEqual(await other.files.listFiles(code, start), [added]);
    assert.equal(await other.files.findClaim(added.id, start), undefined);
    assert.deepEqual(await other.files.claimFile(code, added.id, newClaim(), start), { claimed: added });
  });
}

function claimedFileTests(open: OpenStore): void {
  const store = sharedStore(open);

  it('[ONCE-5] is erased when it is received, once, and cannot be restored', async (t) => {
    const { store } = await ownStore(t, open);
    const { rooms, storage } = store;
    const owner = { client: 'client', network: undefined };
    const { code, added } = await roomWithOneTimeFile(store, { owner, size: 70 });
    const claim = newClaim();
    await store.files.claimFile(code, added.id, claim, start);
    const outcomes = await Promise.all(
      Array.from({ length: 5 }, () => store.files.receiveFile(code, claim.hash, start)),
    );
    assert.deepEqual(
      outcomes.filter((outcome) => outcome !== 'no-claim'),
      [{ seq: 2, fileId: added.id }],
    );
    assert.deepEqual(await store.files.listFiles(code, start), []);
    assert.equal(await store.files.findFile(added.id, start), undefined);
    assert.equal(await store.files.findClaim(added.id, start), undefined);
    assert.equal(await store.files.restoreFile(code, added.id, start), 'no-file');
    assert.deepEqual(await countedFiles(rooms, code), { files: 0, bytes: 0 });
    assert.deepEqual(await store.trash.listTrash(10), [added.blob]);
    await store.trash.clearTrash([added.blob]);
    assert.deepEqual([await storage.usageOf('client'), await storage.usage()], [0, { stored: 0, reserved: 0 }]);
  });

  it('[ONCE-5] is received with an expired claim, unless there is a newer one', async () => {
    const { code, added } = await roomWithOneTimeFile(store);
    const [late, newer] = [newClaim(), newClaim(start + 3 * hour)];
    await store.files.claimFile(code, added.id, late, start);
    await store.files.claimFile(code, added.id, newer, start + hour);
    assert.equal(await store.files.receiveFile(code, late.hash, start + hour), 'no-claim');
    assert.ok(typeof (await store.files.receiveFile(code, newer.hash, start + 4 * hour)) === 'object');
    assert.deepEqual(await store.files.listFiles(code, start + 4 * hour), []);
  });

  it('[ONCE-7] is received and released only with the claim, in its room', async () => {
    const { code, added } = await roomWithOneTimeFile(store);
    const claim = newClaim();
    await store.files.claimFile(code, added.id, claim, start);
    const other = await roomWithOneTimeFile(store);
    await store.files.claimFile(other.code, other.added.id, newClaim(), start);
    for (const [room, hash] of [
      [code, newClaim().hash],
      [code, ''],
      [other.code, claim.hash],
    ] as const) {
      assert.equal(await store.files.receiveFile(room, hash, start), 'no-claim');
      assert.equal(await store.files.releaseClaim(room, hash, start), 'no-claim');
    }
    assert.deepEqual(await store.files.findClaim(added.id, start), claim);
  });

  it('[ONCE-10] can be removed and restored with its claim, and be received while it is removed', async () => {
    const { rooms } = store;
    const { code, added } = await roomWithOneTimeFile(store);
    const claim = newClaim();
    await store.files.claimFile(code, added.id, claim, start);
    await store.files.removeFile(code, added.id, start);
    assert.equal(await store.files.findClaim(added.id, start), undefined);
    assert.equal(await store.files.claimFile(code, added.id, newClaim(), start), 'no-file');
    await store.files.restoreFile(code, added.id, start);
    assert.deepEqual(await store.files.findClaim(added.id, start), claim);
    assert.deepEqual(await store.files.claimFile(code, added.id, newClaim(), start), { claimedUntil: claim.expiresAt });
    await store.files.removeFile(code, added.id, start);
    assert.deepEqual(await store.files.receiveFile(code, claim.hash, start), { seq: 5, fileId: added.id });
    assert.equal(await store.files.restoreFile(code, added.id, start), 'no-file');
    assert.equal(await store.files.eraseRemovedIn(code), 0);
    assert.deepEqual(await countedFiles(rooms, code), { files: 0, bytes: 0 });
  });

  it('[ONCE-8] leaves no claim behind when it is erased, however often', async () => {
    const { rooms } = store;
    const code = await createRoom(rooms);
    const claims: FileClaim[] = [];
    for (let round = 0; round < 5; round++) {
      const added = file({ once: true });
      await store.files.addFile(code, added, quota);
      claims.push(newClaim());
      await store.files.claimFile(code, added.id, claims.at(-1) as FileClaim, start);
      await store.files.removeFile(code, added.id, start);
      await eraseAll(store.files);
    }
    for (const { hash } of claims) assert.equal(await store.files.receiveFile(code, hash, start), 'no-claim');
    assert.deepEqual(await countedFiles(rooms, code), { files: 0, bytes: 0 });
  });

  it('[ONCE-3] [LIFE-2] ends with its room', async () => {
    const { code, added } = await roomWithOneTimeFile(store, {}, start + hour);
    const claim = newClaim(start + 2 * hour);
    await store.files.claimFile(code, added.id, claim, start);
    assert.equal(await store.files.findClaim(added.id, start + hour), undefined);
    assert.equal(await store.files.receiveFile(code, claim.hash, start + hour), 'expired');
    assert.equal(await store.files.releaseClaim(code, claim.hash, start + hour), 'expired');
  });

  it('[TUS-2] [ONCE-1] is one-time when its upload was', async () => {
    const { rooms } = store;
    const code = await createRoom(rooms);
    const { received: _, state, expiresAt, ...uploading } = unfinishedFile({ once: true, size: 0 });
    await store.uploads.startUpload(code, { ...uploading, received: 0, state, expiresAt }, quota);
    const found = await store.uploads.findUpload(code, uploading.id, start);
    assert.equal(typeof found === 'object' && found.once, true);
    await store.uploads.finishUpload(code, uploading.id, start);
    assert.deepEqual(await store.files.findFile(uploading.id, start), uploading);
    const roomState = await rooms.readState(code, start);
    assert.deepEqual(typeof roomState === 'object' && roomState.files, [uploading]);
  });
}

const newClaim = (expiresAt = start + hour): FileClaim => ({
  hash: createHash('sha256').update(randomBytes(16)).digest('hex'),
  expiresAt,
});

async function roomWithOneTimeFile(store: RoomStores, over: Partial<StoredFile> = {}, expiresAt?: number) {
  const code = await createRoom(store.rooms, expiresAt === undefined ? {} : { expiresAt });
  const added = file({ once: true, ...over });
  await store.files.addFile(code, added, quota);
  return { code, added };
}
