/** Complete rooms and keys: read from one store, restored in another. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { drawApiKey } from '../../src/core/clients.ts';
import type { KeyRecord, RoomRecord } from '../../src/core/ports/store.ts';
import type { TextEntry } from '../../src/core/ports/texts.ts';
import type { RoomCode } from '../../src/core/room-code.ts';
import { storedLink } from './store-links.ts';
import {
  accessAttempt,
  appendInsertion,
  checkpoint,
  createRoom,
  day,
  file,
  hour,
  insertion,
  mac,
  manyCheckpoints,
  manyMisses,
  newClient,
  type OpenStore,
  ownStore,
  quota,
  second,
  sharedStore,
  start,
  storedText,
  textAppend,
  textEntry,
  unknownCode,
  writeText,
} from './store-under-test.ts';

const [right, wrong] = [new Uint8Array(mac('0427')), mac('9999')];
const oddText = 'content version\u0000 \u{1f44d} "\\\r\n\u2028 1e400';

export function archiveTests(open: OpenStore): void {
  describe('rooms that are read', () => readingTests(open));
  describe('rooms that are restored', () => restoringTests(open));
  describe('keys', () => keyTests(open));
}

function readingTests(open: OpenStore): void {
  const store = sharedStore(open, manyMisses);

  it('[MOVE-1] are returned with all their data', async () => {
    const creator = newClient();
    const named = { name: 'Küche', createdBy: 'key:laptop' } as const;
    const code = await createRoom(store.rooms, { pinMac: right, creator, expiresAt: start + hour, ...named });
    const files = [file({ size: 0, name: 'päper "1".txt' }), file({ size: 5 })];
    const entries = [
      insertion(1, 'first', { deviceId: 'phone', ref: 'a1' }),
      textEntry(2, { edits: [{ from: 0, to: 5, insert: oddText }], writtenAt: start + second }),
    ];
    const kept = { checkpoint: checkpoint(1, 'first', { deviceId: 'phone' }), limits: manyCheckpoints };
    await store.texts.appendText(code, textAppend(entries[0] as TextEntry));
    await store.texts.appendText(code, textAppend(entries[1] as TextEntry, { checkpoint: kept }));
    for (const added of files) await store.files.addFile(code, added, quota);
    await store.rooms.notePinAttempt(code, start);
    const links = [storedLink({ name: 'Guests', expiresAt: start + second }), storedLink({ createdAt: start + 1 })];
    for (const link of links) await store.links.createLink(code, link, 20, start);
    assert.deepEqual(await store.archive.readRoom(code, start), {
      code,
      createdAt: start,
      expiresAt: start + hour,
      pinMac: right,
      ...named,
      seq: 5,
      pinAttempts: 1,
      content: { content: oddText, version: 2, writtenAt: start + second },
      revision: 2,
      entries,
      lastRefs: [{ deviceId: 'phone', ref: 'a1', version: 1, writtenAt: start }],
      history: [kept.checkpoint],
      keepsHistory: true,
      owner: undefined,
      textCharge: undefined,
      files,
      trusted: [creator],
      links,
    });
  });

  it('[MOVE-1] are returned when they are new, too', async () => {
    const code = await createRoom(store.rooms);
    const record = await store.archive.readRoom(code, start);
    assert.deepEqual(record, { ...roomRecord(), code });
  });

  it('[MOVE-1] are read with their full text when the log no longer starts at the beginning', async () => {
    const code = await createRoom(store.rooms, { keepsHistory: false });
    await store.texts.appendText(code, textAppend(insertion(1, 'c')));
    const compaction = { content: 'bc', dropThrough: 1 };
    const entries = [insertion(2, 'b'), insertion(3, 'a')] as const;
    await store.texts.appendText(code, textAppend(entries[0], { compaction }));
    await store.texts.appendText(code, textAppend(entries[1]));
    const record = await store.archive.readRoom(code, start);
    const content = { content: 'abc', version: 3, writtenAt: start };
    assert.deepEqual(record, { ...roomRecord({ content }), code, seq: 3, entries, keepsHistory: false });
  });

  it('are not returned if they do not exist or have expired', async () => {
    const code = await createRoom(store.rooms, { expiresAt: start + hour });
    assert.ok(await store.archive.readRoom(code, start + hour - 1));
    assert.equal(await store.archive.readRoom(code, start + hour), undefined);
    assert.equal(await store.archive.readRoom(unknownCode(), start), undefined);
  });

  it('[MOVE-1] are all listed, each once, except for expired ones', async (t) => {
    const { rooms, archive } = (await ownStore(t, open)).store;
    assert.deepEqual(await Array.fromAsync(archive.codes(start)), []);
    const make = (n: number) => createRoom(rooms, { expiresAt: start + (n % 10 === 0 ? hour : day) });
    const codes = await Promise.all(Array.from({ length: 1200 }, (_, n) => make(n)));
    await rooms.deleteRoom(codes[1] as RoomCode, start);
    const listed = await Array.fromAsync(archive.codes(start + hour));
    assert.deepEqual(listed.sort(), codes.filter((_, n) => n % 10 !== 0 && n !== 1).sort());
  });
}

function restoringTests(open: OpenStore): void {
  const store = sharedStore(open, manyMisses);

  it('[MOVE-1] [ROLE-12] are identical to the original', async () => {
    const record = roomRecord({
      pinMac: right,
      seq: 40,
      pinAttempts: 3,
      content: { content: `x${oddText}`, version: 17, writtenAt: start - hour },
      entries: [
        insertion(16, oddText, { deviceId: 'phone', ref: 'a1', writtenAt: start - 2 * hour }),
        insertion(17, 'x', { writtenAt: start - hour }),
      ],
      history: [checkpoint(3, ''), checkpoint(16, oddText, { deviceId: 'phone', writtenAt: start - hour })],
      keepsHistory: false,
      createdBy: 'user:alice',
      files: [file({ name: 'first' }), file({ name: 'second' }), file({ name: 'older', uploadedAt: start - hour })],
      trusted: [newClient(), newClient()],
      links: [storedLink({ lastUsed: start }), storedLink({ role: 'drop', name: 'Guests', createdAt: start + 1 })],
    });
    assert.equal(await store.archive.restoreRoom(record, start), 'restored');
    const [link] = record.links;
    assert.deepEqual(link && (await store.links.findLink(link.id, start)), { code: record.code, link });
    const files = [record.files[2], record.files[0], record.files[1]];
    assert.deepEqual(await store.archive.readRoom(record.code, start), { ...record, files });
  });

  it('[MOVE-1] work like any other: access, text, files', async () => {
    const [kept, dropped] = [file({ size: 70 }), file({ size: 30 })];
    const record = roomRecord({
      pinMac: right,
      seq: 9,
      content: { content: 'text', version: 4, writtenAt: start },
      files: [kept, dropped],
    });
    const { code } = record;
    await store.archive.restoreRoom(record, start);
    assert.equal((await store.rooms.admit(accessAttempt(code, { pinMac: wrong }))).outcome, 'pin-incorrect');
    const admitted = await store.rooms.admit(accessAttempt(code, { pinMac: right }));
    assert.deepEqual(admitted.outcome === 'admitted' && [admitted.room.fileCount, admitted.room.fileBytes], [2, 100]);
    assert.deepEqual(await writeText(store.texts, code, 'next'), { version: 5, seq: 10 });
    const added = file();
    assert.deepEqual(await store.files.addFile(code, added, quota), { seq: 11 });
    assert.deepEqual(await store.files.findFile(dropped.id, start), dropped);
    assert.deepEqual(await store.files.removeFile(code, dropped.id, start), { seq: 12 });
    assert.deepEqual(await store.files.listFiles(code, start), [kept, added]);
  });

  it('[MOVE-1] [TEXT-7] [HIST-2] continue their log and their history', async () => {
    const record = roomRecord({
      seq: 9,
      content: { content: 'bc', version: 4, writtenAt: start },
      entries: [insertion(3, 'c'), insertion(4, 'b')],
      history: [checkpoint(2, ''), checkpoint(3, 'c')],
    });
    const { code } = record;
    await store.archive.restoreRoom(record, start);
    const stale = await store.texts.appendText(code, textAppend(insertion(3, 'late')));
    assert.deepEqual(stale, { outcome: 'stale', version: 4, revision: 4, entries: record.entries });
    assert.deepEqual(await appendInsertion(store.texts, code, 5, 'a'), { outcome: 'appended', seq: 10 });
    const { content, entries, checkpointVersion } = await storedText(store.texts, code);
    assert.deepEqual([content.content, checkpointVersion], ['abc', 3]);
    assert.deepEqual(entries, [...record.entries, insertion(5, 'a')]);
    assert.deepEqual(await store.texts.readCheckpoint(code, 3, start), record.history[1]);
  });

  it('[MOVE-1] include the clients that gave the correct PIN', async () => {
    const [friend, stranger] = [newClient(), newClient()];
    const record = roomRecord({ pinMac: right, trusted: [friend] });
    await store.archive.restoreRoom(record, start);
    const guess = () => store.rooms.admit(accessAttempt(record.code, { pinMac: wrong }));
    for (let n = 0; n < manyMisses.wrongPinsPerRoom; n++) await guess();
    const outcomeFor = async (client: string) =>
      (await store.rooms.admit(accessAttempt(record.code, { client, pinMac: right }))).outcome;
    assert.deepEqual([await outcomeFor(friend), await outcomeFor(stranger)], ['admitted', 'pin-locked']);
  });

  it('[GUESS-6] [MOVE-1] include the wrong PINs of their lifetime', async () => {
    const friend = newClient();
    const record = roomRecord({ pinMac: right, pinAttempts: 99, trusted: [friend] });
    await store.archive.restoreRoom(record, start);
    const outcomeFor = async (client: string, pinMac: Uint8Array) =>
      (await store.rooms.admit(accessAttempt(record.code, { client, pinMac }))).outcome;
    assert.equal(await outcomeFor(newClient(), wrong), 'pin-incorrect');
    assert.equal(await outcomeFor(newClient(), right), 'pin-locked');
    assert.equal(await outcomeFor('172.2.0.1', right), 'pin-locked');
    assert.equal(await outcomeFor(friend, right), 'admitted');
  });

  it('are counted, and expire with their files', async (t) => {
    const { store } = await ownStore(t, open);
    const { rooms, archive } = store;
    const record = roomRecord({ expiresAt: start + hour, files: [file()] });
    await archive.restoreRoom(record, start);
    assert.equal(await rooms.countRooms(start), 1);
    assert.deepEqual(await Array.fromAsync(archive.codes(start)), [record.code]);
    const blob = record.files[0]?.blob as string;
    assert.deepEqual(await store.trash.knownBlobs([blob]), new Set([blob]));
    assert.deepEqual(await rooms.expireRooms(start + hour, 10), [record.code]);
    assert.deepEqual(await store.trash.listTrash(10), [blob]);
  });

  it('[MOVE-2] do not take a code that is in use, and do not change that room', async () => {
    const code = await createRoom(store.rooms);
    await writeText(store.texts, code, 'mine');
    const before = await store.archive.readRoom(code, start);
    const added = file();
    assert.equal(await store.archive.restoreRoom(roomRecord({ code, files: [added] }), start), 'taken');
    assert.deepEqual(await store.archive.readRoom(code, start), before);
    assert.equal(await store.files.findFile(added.id, start), undefined);
  });

  it('[MOVE-2] do not take a code that was in use until recently', async () => {
    const code = await createRoom(store.rooms, { expiresAt: start + hour });
    const record = roomRecord({ code, createdAt: start + second });
    assert.equal(await store.archive.restoreRoom(record, start + hour), 'taken');
    await store.rooms.expireRooms(start + hour, 1000);
    assert.equal(await store.archive.restoreRoom(record, start + hour), 'taken');
    assert.equal((await store.rooms.admit(accessAttempt(code, { now: start + hour }))).outcome, 'expired');
  });

  it('[MOVE-2] are restored once, however many attempts run concurrently', async () => {
    const record = roomRecord({ files: [file()] });
    const outcomes = await Promise.all([1, 2, 3].map(() => store.archive.restoreRoom(record, start)));
    assert.deepEqual(outcomes.sort(), ['restored', 'taken', 'taken']);
    assert.deepEqual(await store.archive.readRoom(record.code, start), record);
  });

  it('can be restored after they were deleted, which takes their bytes out of the trash', async (t) => {
    const { store } = await ownStore(t, open);
    const { rooms, archive } = store;
    const record = roomRecord({ files: [file()] });
    await archive.restoreRoom(record, start);
    await rooms.deleteRoom(record.code, start);
    assert.equal(await archive.restoreRoom(record, start), 'restored');
    assert.deepEqual(await store.trash.listTrash(10), []);
    assert.deepEqual(await store.files.findFile(record.files[0]?.id as string, start), record.files[0]);
  });

  it('[MOVE-1] survive a restart', async (t) => {
    const under = await ownStore(t, open);
    const record = roomRecord({
      pinMac: right,
      content: { content: 'a', version: 2, writtenAt: start },
      entries: [insertion(2, 'a')],
      history: [checkpoint(1, '')],
      files: [file()],
      trusted: [newClient()],
    });
    await under.store.archive.restoreRoom(record, start);
    const { archive } = await under.reopen(start);
    assert.deepEqual(await archive.readRoom(record.code, start), record);
  });
}

function keyTests(open: OpenStore): void {
  it('[MOVE-1] are identical to the original, active and revoked', async (t) => {
    const [{ store: from }, { store: to }] = [await ownStore(t, open), await ownStore(t, open)];
    const [inForce, revoked] = [drawApiKey(), drawApiKey()];
    await from.keys.create({ id: revoked.id, hash: revoked.hash, name: 'laptop', tier: 'free' }, start);
    await from.keys.revoke('laptop', start + second);
    await from.keys.create({ id: inForce.id, hash: inForce.hash, name: 'laptop', tier: 'pro' }, start + second);
    const records = await from.archive.keys();
    assert.deepEqual(
      records.map(({ hash, revokedAt }) => [hash, revokedAt]),
      [
        [revoked.hash, start + second],
        [inForce.hash, undefined],
      ],
    );
    for (const record of records) assert.equal(await to.archive.restoreKey(record), 'restored');
    assert.deepEqual(await to.archive.keys(), records);
    assert.deepEqual(await to.keys.list(), await from.keys.list());
    assert.equal((await to.keys.find(inForce.hash))?.tier, 'pro');
    assert.equal(await to.keys.find(revoked.hash), undefined);
    assert.equal((await to.keys.revoke('laptop', start))?.id, inForce.id);
  });

  it('[MOVE-2] do not take the id or the name of another active key', async (t) => {
    const { store } = await ownStore(t, open);
    const first = keyRecord('mine');
    assert.equal(await store.archive.restoreKey(first), 'restored');
    assert.equal(await store.archive.restoreKey(first), 'taken');
    assert.equal(await store.archive.restoreKey({ ...keyRecord('other'), id: first.id }), 'taken');
    const namesake = keyRecord('mine');
    assert.equal(await store.archive.restoreKey(namesake), 'taken');
    assert.equal(await store.keys.find(namesake.hash), undefined);
    assert.deepEqual(await store.archive.keys(), [first]);
    assert.equal(await store.archive.restoreKey({ ...namesake, revokedAt: start }), 'restored');
  });
}

function roomRecord(over: Partial<RoomRecord> = {}): RoomRecord {
  return {
    code: unknownCode(),
    createdAt: start,
    expiresAt: start + day,
    pinMac: undefined,
    name: undefined,
    seq: 0,
    pinAttempts: 0,
    content: { content: '', version: 0, writtenAt: start },
    revision: over.content?.version ?? 0,
    entries: [],
    lastRefs: [],
    history: [],
    keepsHistory: true,
    owner: undefined,
    textCharge: undefined,
    files: [],
    trusted: [],
    links: [],
    ...over,
  };
}

function keyRecord(name: string): KeyRecord {
  const { id, hash } = drawApiKey();
  return { id, hash, name, tier: 'free', createdAt: start, revokedAt: undefined };
}
