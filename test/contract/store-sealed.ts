/** Encrypted rooms: their proof of access, sealed entries, snapshots and files. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { RoomStore } from '../../src/core/ports/rooms.ts';
import type { Archive, RoomRecord } from '../../src/core/ports/store.ts';
import type { RoomCode } from '../../src/core/room-code.ts';
import {
  accessAttempt,
  checkpoint,
  createRoom,
  file,
  mac,
  manyCheckpoints,
  newClient,
  type OpenStore,
  quota,
  type RoomStores,
  roomUpdate,
  sharedStore,
  start,
  storedText,
  textAppend,
  textEntry,
  unfinishedFile,
} from './store-under-test.ts';

const salt = 'AAECAwQFBgcICQoLDA0ODw';
const verifier = mac('auth');

export function sealedTests(open: OpenStore): void {
  const store = sharedStore(open);
  const newRoom = (over = {}) => createRoom(store.rooms, { pinMac: verifier, salt, ...over });

  it('[SEALED-2] [SEALED-4] requires the hash of the key, and locks out wrong ones', async () => {
    const { rooms } = store;
    const code = await newRoom();
    const client = newClient();
    const attempt = (keyHash?: Uint8Array, pinMac?: Uint8Array) =>
      accessAttempt(code, { client, pinMac, ...(keyHash && { keyHash }) });
    for (const given of [attempt(), attempt(undefined, verifier)]) {
      assert.deepEqual(await rooms.admit(given), { outcome: 'key-required', salt });
      assert.deepEqual(await rooms.read(given), { outcome: 'key-required', salt });
    }
    const admission = await rooms.admit(attempt(verifier));
    assert.ok(admission.outcome === 'admitted');
    assert.deepEqual([admission.room.salt, admission.room.hasPin], [salt, false]);
    assert.equal((await rooms.read(attempt(verifier))).outcome, 'admitted');
    for (let left = 4; left > 0; left--) {
      const wrong = { outcome: 'pin-incorrect', triesLeft: left, lockedUntil: undefined, isKey: true };
      assert.deepEqual(await rooms.admit(attempt(mac('wrong'))), wrong);
    }
    const last = await rooms.admit(attempt(mac('wrong')));
    assert.ok(last.outcome === 'pin-incorrect' && last.isKey && last.lockedUntil);
    const locked = { outcome: 'pin-locked', until: last.lockedUntil, isKey: true };
    assert.deepEqual(await rooms.admit(attempt(mac('wrong'))), locked);
    assert.equal((await rooms.admit(attempt(verifier))).outcome, 'admitted');
    // A room with a PIN ignores keys.
    const withPin = await createRoom(rooms, { pinMac: mac('0427') });
    const byKey = accessAttempt(withPin, { keyHash: mac('0427') });
    assert.deepEqual(await rooms.admit(byKey), { outcome: 'pin-required' });
  });

  it('[SEALED-8] keeps the full text and the sealed entries apart', async () => {
    const { rooms } = store;
    const code = await newRoom();
    await fill(store, code);
    const stored = await storedText(store.texts, code);
    assert.deepEqual([stored.isEncrypted, stored.fullTextVersion, stored.content.content], [true, 2, 'full 2']);
    assert.deepEqual(stored.entries, [sealedEntry(1), textEntry(2), sealedEntry(3)]);
    const whole = await rooms.readState(code, start);
    assert.ok(typeof whole === 'object');
    const { content, contentVersion, entries, version } = whole.text;
    assert.deepEqual([content, contentVersion, version], ['full 2', 2, 3]);
    assert.deepEqual(entries, [sealedEntry(3)]);
    const attempt = accessAttempt(code, { keyHash: verifier });
    assert.deepEqual(await rooms.read(attempt), {
      outcome: 'admitted',
      content: { content: 'full 2', version: 3, writtenAt: start },
      sealed: { contentVersion: 2, entries: [sealedEntry(3)] },
    });
    const since = await rooms.readState(code, start, { version: 2, writtenAt: start });
    assert.ok(typeof since === 'object' && since.text.content === undefined);
    assert.deepEqual(since.text.entries, [sealedEntry(3)]);
    const stale = await store.texts.appendText(code, textAppend(sealedEntry(3)));
    assert.ok(stale.outcome === 'stale');
    assert.deepEqual(stale.entries, [sealedEntry(3)]);
  });

  it('[SEALED-9] replaces the log by a snapshot of a version in it', async () => {
    const { rooms } = store;
    const code = await newRoom();
    await fill(store, code);
    await store.texts.appendText(code, textAppend(sealedEntry(4)));
    const kept = checkpoint(2, 'full 2');
    const compaction = {
      ...{ version: 3, content: 'full 3', dropThrough: 2, lastRefs: [] },
      current: { version: 4, revision: 4 },
      checkpoint: { checkpoint: kept, limits: manyCheckpoints },
    };
    const seq = await seqOf(rooms, code);
    const other = { ...compaction, current: { version: 4, revision: 99 } };
    assert.equal(await store.texts.compactText(code, other, start), 'stale');
    assert.equal(await store.texts.compactText(code, compaction, start), 'compacted');
    const { fullTextVersion, content, entries } = await storedText(store.texts, code);
    assert.deepEqual([fullTextVersion, content.content, content.version], [3, 'full 3', 4]);
    assert.deepEqual(entries, [sealedEntry(3), sealedEntry(4)]);
    assert.deepEqual(await store.texts.readCheckpoint(code, 2, start), kept);
    assert.equal(await seqOf(rooms, code), seq);
    const older = { ...compaction, version: 2, content: 'older', checkpoint: undefined };
    assert.equal(await store.texts.compactText(code, older, start), 'compacted');
    assert.equal((await storedText(store.texts, code)).content.content, 'full 3');
    assert.equal((await store.texts.appendText(code, textAppend(sealedEntry(5)))).outcome, 'appended');
    await rooms.deleteRoom(code, start);
    assert.equal(await store.texts.compactText(code, compaction, start), 'gone');
  });

  it('[SEALED-12] clears the history up to the full text', async () => {
    const code = await newRoom();
    await fill(store, code);
    const current = { version: 3, revision: 3, content: 'full 2', fullTextVersion: 2, lastRefs: [] };
    assert.equal(await store.texts.clearHistory(code, current, start), 'cleared');
    const { fullTextVersion, entries, content } = await storedText(store.texts, code);
    assert.deepEqual([fullTextVersion, content.content, content.version], [2, 'full 2', 3]);
    assert.deepEqual(entries, [sealedEntry(3)]);
    assert.deepEqual(await store.texts.listHistory(code, start), []);
    // A room without a full text.
    const early = await newRoom();
    await store.texts.appendText(early, textAppend(sealedEntry(1)));
    await store.texts.clearHistory(
      early,
      { version: 1, revision: 1, content: '', fullTextVersion: 0, lastRefs: [] },
      start,
    );
    assert.deepEqual((await storedText(store.texts, early)).entries, [sealedEntry(1)]);
  });

  it('[SEALED-10] keeps the sealed metadata of files', async () => {
    const code = await newRoom();
    const sealed = file({ meta: 'pop1.meta', name: 'encrypted' });
    await store.files.addFile(code, sealed, quota);
    assert.deepEqual(await store.files.findFile(sealed.id, start), sealed);
    const unfinished = unfinishedFile({ meta: 'pop1.other' });
    await store.uploads.startUpload(code, unfinished, quota);
    assert.deepEqual(await store.uploads.findUpload(code, unfinished.id, start), unfinished);
  });

  it('[SEALED-13] can be moved, and changed by someone with the key', async () => {
    const { rooms, archive } = store;
    const code = await newRoom({ name: 'pop1.name' });
    await fill(store, code);
    await store.files.addFile(code, file({ meta: 'pop1.meta' }), quota);
    const record = await readRecord(archive, code);
    assert.deepEqual([record.salt, record.fullTextVersion, record.name], [salt, 2, 'pop1.name']);
    const update = { admittedBy: verifier, name: 'pop1.new' };
    assert.equal(await rooms.updateRoom(code, roomUpdate({ name: 'x' }), start), 'pin-changed');
    const updated = await rooms.updateRoom(code, roomUpdate(update), start);
    assert.ok(typeof updated === 'object');
    assert.deepEqual([updated.room.name, updated.room.salt, updated.room.hasPin], ['pop1.new', salt, false]);
    await rooms.deleteRoom(code, start);
    assert.equal(await archive.restoreRoom(record, start), 'restored');
    assert.deepEqual(await readRecord(archive, code), record);
    assert.deepEqual((await storedText(store.texts, code)).entries, [sealedEntry(1), textEntry(2), sealedEntry(3)]);
    assert.equal((await rooms.admit(accessAttempt(code))).outcome, 'key-required');
  });
}

const sealedEntry = (version: number) => textEntry(version, { sealed: `pop1.${version}` });

/** A sealed edit, a full text and another edit. */
async function fill(store: RoomStores, code: RoomCode): Promise<void> {
  await store.texts.appendText(code, textAppend(sealedEntry(1)));
  await store.texts.appendText(code, textAppend(textEntry(2), { compaction: { content: 'full 2', dropThrough: 0 } }));
  const appended = await store.texts.appendText(code, textAppend(sealedEntry(3)));
  assert.equal(appended.outcome, 'appended');
}

async function seqOf(rooms: RoomStore, code: RoomCode): Promise<number> {
  const state = await rooms.readState(code, start);
  assert.ok(typeof state === 'object');
  return state.seq;
}

async function readRecord(archive: Archive, code: RoomCode): Promise<RoomRecord> {
  const record = await archive.readRoom(code, start);
  assert.ok(record, 'the room should exist');
  return record;
}
