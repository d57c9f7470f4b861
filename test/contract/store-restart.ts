/** A clean restart loses nothing. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { drawApiKey } from '../../src/core/clients.ts';
import type { Quota } from '../../src/core/ports/clients.ts';
import type { TextAppend } from '../../src/core/ports/texts.ts';
import {
  accessAttempt,
  appendInsertion,
  checkpoint,
  createRoom,
  draft,
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
  start,
  textAppend,
  textOf,
  writeText,
} from './store-under-test.ts';

const three: Quota = { tier: 'free', limit: 3, windowMs: hour };
const [right, wrong] = [mac('0427'), mac('9999')];

export function restartTests(open: OpenStore): void {
  describe('rooms after a restart', () => roomTests(open));
  describe('counters after a restart', () => counterTests(open));
}

function roomTests(open: OpenStore): void {
  it('[LIFE-6] keeps rooms, their PINs, texts and files', async (t) => {
    const under = await ownStore(t, open);
    const code = await createRoom(under.store.rooms, { pinMac: right });
    const files = [file({ size: 1 }), file({ size: 2, uploadedAt: start + 1 })] as const;
    await writeText(under.store.texts, code, 'kept\u0000👍');
    for (const added of files) await under.store.files.addFile(code, added, quota);
    const before = await under.store.rooms.admit(accessAttempt(code, { pinMac: right }));

    const store = await under.reopen(start + second);
    const { rooms } = store;
    assert.deepEqual(await rooms.admit(accessAttempt(code)), { outcome: 'pin-required' });
    assert.deepEqual(await rooms.admit(accessAttempt(code, { pinMac: right })), before);
    assert.deepEqual(
      { ...(await textOf(rooms, code, start, right)) },
      { content: 'kept\u0000👍', version: 1, writtenAt: start },
    );
    assert.deepEqual(await store.files.listFiles(code, start), files);
    assert.deepEqual(await writeText(store.texts, code, 'next'), { version: 2, seq: 4 });
  });

  it('[LIFE-6] keeps writes that were pending when it was closed', async (t) => {
    const under = await ownStore(t, open);
    const code = await createRoom(under.store.rooms);
    const writes = Array.from({ length: 500 }, (_, n) => appendInsertion(under.store.texts, code, n + 1, 'a'));
    const { rooms } = await under.reopen(start);
    const written = await Promise.all(writes);
    assert.ok(written.every(({ outcome }) => outcome === 'appended'));
    const { content, version } = (await textOf(rooms, code, start)) ?? {};
    assert.deepEqual([content, version], ['a'.repeat(500), 500]);
  });

  it('[LIFE-6] [TEXT-7] keeps the log, the full text and the history', async (t) => {
    const under = await ownStore(t, open);
    const code = await createRoom(under.store.rooms, { keepsHistory: false });
    const appendTo = (append: TextAppend) => under.store.texts.appendText(code, append);
    await appendTo(textAppend(insertion(1, 'three')));
    await appendTo(
      textAppend(insertion(2, 'two\u0000'), { compaction: { content: 'two\u0000three', dropThrough: 1 } }),
    );
    const kept = checkpoint(2, 'two\u0000three', { deviceId: 'phone' });
    await appendTo(
      textAppend(insertion(3, 'one', { deviceId: 'phone', ref: 'r' }), {
        checkpoint: { checkpoint: kept, limits: manyCheckpoints },
      }),
    );
    const before = await under.store.texts.readText(code, start);

    const store = await under.reopen(start + second);
    assert.deepEqual(await store.texts.readText(code, start), before);
    assert.deepEqual(before, {
      content: { content: 'onetwo\u0000three', version: 3, writtenAt: start },
      entries: [insertion(2, 'two\u0000'), insertion(3, 'one', { deviceId: 'phone', ref: 'r' })],
      logBytes: typeof before === 'object' && before.logBytes,
      lastRefs: [{ deviceId: 'phone', ref: 'r', version: 3, writtenAt: start }],
      revision: 3,
      fullTextVersion: 2,
      checkpointVersion: 2,
      keepsHistory: false,
    });
    assert.deepEqual(await store.texts.readCheckpoint(code, 2, start), kept);
    assert.deepEqual(await appendInsertion(store.texts, code, 4, 'a'), { outcome: 'appended', seq: 4 });
  });

  it('[LIFE-2] [LIFE-3] [LIFE-4] keeps deleted rooms deleted and expired ones expired', async (t) => {
    const under = await ownStore(t, open);
    const deleted = await createRoom(under.store.rooms);
    const swept = draft({ expiresAt: start + hour });
    const code = await createRoom(under.store.rooms, swept);
    await under.store.rooms.deleteRoom(deleted, start);
    await under.store.rooms.expireRooms(start + hour, 100);

    const { rooms } = await under.reopen(start + hour);
    const outcomeAt = async (room: typeof code, now: number) =>
      (await rooms.admit(accessAttempt(room, { now }))).outcome;
    assert.equal(await outcomeAt(deleted, start + hour), 'unknown');
    assert.equal(await outcomeAt(code, start + hour), 'expired');
    assert.equal(await outcomeAt(code, start + 25 * hour), 'unknown');
    assert.equal(await rooms.createRoom({ ...draft(), draw: swept.draw, createdAt: start + hour }), undefined);
  });

  it('[LIFE-6] keeps the trash', async (t) => {
    const under = await ownStore(t, open);
    const added = file();
    const code = await createRoom(under.store.rooms);
    await under.store.files.addFile(code, added, quota);
    await under.store.rooms.deleteRoom(code, start);
    const store = await under.reopen(start);
    assert.deepEqual(await store.trash.listTrash(100), [added.blob]);
    assert.deepEqual(await store.trash.knownBlobs([added.blob]), new Set([added.blob]));
  });

  it('[CODE-2] keeps the number of unexpired rooms', async (t) => {
    const under = await ownStore(t, open);
    const codeLengths = [
      { length: 6, upTo: 2 },
      { length: 7, upTo: 100 },
    ];
    for (let n = 0; n < 2; n++) await createRoom(under.store.rooms, { codeLengths });
    const { rooms } = await under.reopen(start);
    assert.equal(await rooms.countRooms(start), 2);
    assert.equal((await createRoom(rooms, { codeLengths })).length, 7);
  });

  it('[LIFE-6] keeps API keys, active and revoked', async (t) => {
    const under = await ownStore(t, open);
    const [inForce, revoked] = [drawApiKey(), drawApiKey()];
    await under.store.keys.create({ ...inForce, name: 'in force', tier: 'pro' }, start);
    await under.store.keys.create({ ...revoked, name: 'revoked', tier: 'free' }, start);
    await under.store.keys.revoke('revoked', start);
    const before = await under.store.keys.list();
    const { keys } = await under.reopen(start);
    assert.deepEqual(await keys.list(), before);
    assert.equal((await keys.find(inForce.hash))?.tier, 'pro');
    assert.equal(await keys.find(revoked.hash), undefined);
  });

  it('responds while it is open, and reports when it is not', async (t) => {
    const under = await ownStore(t, open);
    const closed = under.store;
    await closed.ping();
    const { ping } = await under.reopen(start);
    await ping();
    await assert.rejects(closed.ping());
    await assert.rejects(closed.rooms.createRoom(draft()));
  });
}

function counterTests(open: OpenStore): void {
  it('[RATE-6] keeps the exact number of requests of each client', async (t) => {
    const under = await ownStore(t, open);
    const [spent, half] = [newClient(), newClient()];
    for (let n = 0; n < 5; n++) await under.store.rates.take(spent, three, start);
    await under.store.rates.take(half, three, start + second);

    const { rates } = await under.reopen(start + 2 * second);
    const resetAt = start + hour;
    assert.deepEqual(await rates.take(spent, three, resetAt - 1), { granted: false, remaining: 0, resetAt });
    assert.equal((await rates.take(spent, three, resetAt)).granted, true);
    const { granted, remaining } = await rates.take(half, three, start + 2 * second);
    assert.deepEqual({ granted, remaining }, { granted: true, remaining: 1 });
  });

  it('[GUESS-5] keeps the misses of each client', async (t) => {
    const under = await ownStore(t, open);
    const client = newClient();
    for (let n = 0; n < 19; n++) await under.store.rooms.admit(accessAttempt(undefined, { client }));
    const { rooms } = await under.reopen(start + second);
    const look = (now: number) => rooms.admit(accessAttempt(undefined, { client, now }));
    assert.deepEqual(await look(start + second), { outcome: 'unknown' });
    assert.deepEqual(await look(start + second), { outcome: 'too-many-misses', until: start + hour });
    assert.deepEqual(await look(start + hour), { outcome: 'unknown' });
  });

  it('[GUESS-5] keeps wrong PINs and locks of each client', async (t) => {
    const under = await ownStore(t, open, manyMisses);
    const code = await createRoom(under.store.rooms, { pinMac: right });
    const [locked, counted, cleared] = [newClient(), newClient(), newClient()];
    const guess = (client: string) => under.store.rooms.admit(accessAttempt(code, { client, pinMac: wrong }));
    for (let n = 0; n < 5; n++) await guess(locked);
    for (let n = 0; n < 3; n++) await guess(counted);
    for (let n = 0; n < 3; n++) await guess(cleared);
    await under.store.rooms.admit(accessAttempt(code, { client: cleared, pinMac: right }));

    const { rooms } = await under.reopen(start + second);
    const guessAgain = (client: string, now: number) =>
      rooms.admit(accessAttempt(code, { client, pinMac: wrong, now }));
    const end = start + 30 * second;
    assert.deepEqual(await guessAgain(locked, end - 1), { outcome: 'pin-locked', until: end });
    const doubled = { outcome: 'pin-incorrect', triesLeft: 0, lockedUntil: end + 60 * second };
    assert.deepEqual(await guessAgain(locked, end), doubled);
    const fourth = { outcome: 'pin-incorrect', triesLeft: 1, lockedUntil: undefined };
    assert.deepEqual(await guessAgain(counted, end), fourth);
    assert.deepEqual(await guessAgain(cleared, end), { ...fourth, triesLeft: 4 });
  });

  it('[GUESS-6] [GUESS-7] keeps the wrong PINs over the lifetime of a room, and the networks they came from', async (t) => {
    const under = await ownStore(t, open, manyMisses);
    const code = await createRoom(under.store.rooms, { pinMac: right });
    const guess = (client: string, now: number) =>
      under.store.rooms.admit(accessAttempt(code, { client, pinMac: wrong, now }));
    for (let n = 0; n < 50; n++) await guess(newClient(), start);
    for (let n = 0; n < 19; n++) await guess(`172.${n}.0.1`, start);
    for (let n = 0; n < 29; n++) await guess(newClient(), start + hour);

    const { rooms } = await under.reopen(start + hour + second);
    const outcomeFor = async (client: string, pinMac: Uint8Array) =>
      (await rooms.admit(accessAttempt(code, { client, pinMac, now: start + hour + second }))).outcome;
    assert.equal(await outcomeFor(newClient(), wrong), 'pin-incorrect');
    assert.equal(await outcomeFor(newClient(), right), 'pin-locked');
    assert.equal(await outcomeFor('172.3.0.1', right), 'pin-locked');
    assert.equal(await outcomeFor('172.100.0.1', wrong), 'pin-incorrect');
    assert.equal(await outcomeFor('172.101.0.1', right), 'pin-locked');
  });

  it('[GUESS-5] [GUESS-3] keeps the wrong PINs of a room, and the clients that know the correct one', async (t) => {
    const under = await ownStore(t, open, manyMisses);
    const [maker, friend] = [newClient(), newClient()];
    const code = await createRoom(under.store.rooms, { pinMac: right, creator: maker });
    await under.store.rooms.admit(accessAttempt(code, { client: friend, pinMac: right }));
    for (let n = 0; n < 49; n++) await under.store.rooms.admit(accessAttempt(code, { pinMac: wrong }));

    const { rooms } = await under.reopen(start + second);
    const enter = (client: string) => rooms.admit(accessAttempt(code, { client, pinMac: right, now: start + second }));
    await rooms.admit(accessAttempt(code, { pinMac: wrong, now: start + second }));
    assert.deepEqual(await enter(newClient()), { outcome: 'pin-locked', until: start + hour });
    assert.equal((await enter(maker)).outcome, 'admitted');
    assert.equal((await enter(friend)).outcome, 'admitted');
  });
}
