/** The guards against guessing PINs and codes. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { guardRules } from '../../src/core/limits.ts';
import type { Quota } from '../../src/core/ports/clients.ts';
import type { Admission, RoomStore } from '../../src/core/ports/rooms.ts';
import { drawSymbols, type RoomCode } from '../../src/core/room-code.ts';
import {
  accessAttempt,
  createRoom,
  day,
  draft,
  hour,
  mac,
  manyMisses,
  newClient,
  type OpenStore,
  ownStore,
  roomUpdate,
  type StoreUnderTest,
  second,
  sharedStore,
  start,
  unknownCode,
} from './store-under-test.ts';

const right = mac('0427');
const wrong = mac('9999');

export function guardTests(open: OpenStore): void {
  describe('wrong PINs of one client', () => clientTests(open));
  describe('wrong PINs of all clients', () => roomTests(open));
  describe('wrong PINs over the lifetime of a room', () => lifeTests(open));
  describe('wrong keys of encrypted rooms', () => keyTests(open));
  describe('misses of one client across all rooms', () => missTests(open));
  describe('a client with too many misses', () => rejectedTests(open));
  describe('counters with very many clients', () => floodTests(open));
}

function clientTests(open: OpenStore): void {
  const store = sharedStore(open, manyMisses);

  it('[GUESS-2] counts the tries down and locks the client out for 30 seconds after the fifth', async () => {
    const code = await protectedRoom(store.rooms);
    const client = newClient();
    const outcomes: Admission[] = [];
    for (let tries = 0; tries < 6; tries++) outcomes.push(await tryPin(store.rooms, code, client, wrong));
    assert.deepEqual(outcomes, [
      { outcome: 'pin-incorrect', triesLeft: 4, lockedUntil: undefined },
      { outcome: 'pin-incorrect', triesLeft: 3, lockedUntil: undefined },
      { outcome: 'pin-incorrect', triesLeft: 2, lockedUntil: undefined },
      { outcome: 'pin-incorrect', triesLeft: 1, lockedUntil: undefined },
      { outcome: 'pin-incorrect', triesLeft: 0, lockedUntil: start + 30 * second },
      { outcome: 'pin-locked', until: start + 30 * second },
    ]);
  });

  it('[GUESS-2] rejects even the correct PIN during the lock, and accepts it when the lock ends', async () => {
    const code = await protectedRoom(store.rooms);
    const client = newClient();
    await guessWrong(store.rooms, code, client, 5);
    const end = start + 30 * second;
    const locked = { outcome: 'pin-locked', until: end };
    assert.deepEqual(await tryPin(store.rooms, code, client, right), locked);
    assert.deepEqual(await tryPin(store.rooms, code, client, right, end - 1), locked);
    assert.equal((await tryPin(store.rooms, code, client, right, end)).outcome, 'admitted');
  });

  it('[GUESS-2] locks for twice as long after each further wrong PIN, up to an hour', async () => {
    const code = await protectedRoom(store.rooms, start + 48 * hour);
    const client = newClient();
    await guessWrong(store.rooms, code, client, 4);
    const locks: number[] = [];
    let now = start;
    for (let tries = 0; tries < 10; tries++) {
      const admission = await tryPin(store.rooms, code, client, wrong, now);
      assert.ok(admission.outcome === 'pin-incorrect' && admission.lockedUntil !== undefined);
      assert.equal(admission.triesLeft, 0);
      locks.push((admission.lockedUntil - now) / second);
      now = admission.lockedUntil;
    }
    assert.deepEqual(locks, [30, 60, 120, 240, 480, 960, 1920, 3600, 3600, 3600]);
  });

  it('[GUESS-2] does not count attempts or extend the lock while it lasts', async () => {
    const code = await protectedRoom(store.rooms);
    const client = newClient();
    await guessWrong(store.rooms, code, client, 5);
    for (let tries = 0; tries < 20; tries++) await tryPin(store.rooms, code, client, wrong, start + second);
    const next = await tryPin(store.rooms, code, client, wrong, start + 30 * second);
    assert.deepEqual(next, { outcome: 'pin-incorrect', triesLeft: 0, lockedUntil: start + 90 * second });
  });

  it('[GUESS-2] starts again after the correct PIN', async () => {
    const code = await protectedRoom(store.rooms);
    const client = newClient();
    await guessWrong(store.rooms, code, client, 5);
    const end = start + 30 * second;
    await tryPin(store.rooms, code, client, right, end);
    assert.equal(triesLeft(await tryPin(store.rooms, code, client, wrong, end)), 4);
  });

  it('[GUESS-2] locks a client out of one room, and no other client out of it', async () => {
    const [code, other] = [await protectedRoom(store.rooms), await protectedRoom(store.rooms)];
    const client = newClient();
    await guessWrong(store.rooms, code, client, 5);
    assert.equal((await tryPin(store.rooms, other, client, right)).outcome, 'admitted');
    assert.equal((await tryPin(store.rooms, code, newClient(), right)).outcome, 'admitted');
  });

  it('[GUESS-1] evaluates exactly 5 of 200 concurrent wrong PINs', async () => {
    const code = await protectedRoom(store.rooms);
    const client = newClient();
    const admissions = await Promise.all(
      Array.from({ length: 200 }, (_, n) => tryPin(store.rooms, code, client, mac(String(n)))),
    );
    assert.deepEqual(tally(admissions), { 'pin-incorrect': 5, 'pin-locked': 195 });
  });

  it('[GUESS-1] does not evaluate the correct PIN after 5 concurrent wrong ones', async () => {
    const code = await protectedRoom(store.rooms);
    const client = newClient();
    const pins = [...Array.from({ length: 199 }, (_, n) => mac(String(n))), right];
    const admissions = await Promise.all(pins.map((pin) => tryPin(store.rooms, code, client, pin)));
    assert.deepEqual(tally(admissions), { 'pin-incorrect': 5, 'pin-locked': 195 });
  });

  it('[PIN-2] does not count a request without a PIN as an attempt', async () => {
    const code = await protectedRoom(store.rooms);
    const client = newClient();
    for (let asked = 0; asked < 30; asked++) await store.rooms.admit(accessAttempt(code, { client }));
    assert.equal(triesLeft(await tryPin(store.rooms, code, client, wrong)), 4);
  });
}

function roomTests(open: OpenStore): void {
  const store = sharedStore(open, manyMisses);

  it('[GUESS-3] locks out unknown clients after 50 wrong PINs, for the rest of the hour', async () => {
    const code = await protectedRoom(store.rooms);
    await guessByMany(store.rooms, code, 50);
    const locked = { outcome: 'pin-locked', until: start + hour };
    assert.deepEqual(await tryPin(store.rooms, code, newClient(), right, start + second), locked);
    assert.deepEqual(await tryPin(store.rooms, code, newClient(), wrong, start + hour - 1), locked);
    assert.equal((await tryPin(store.rooms, code, newClient(), right, start + hour)).outcome, 'admitted');
  });

  it('[GUESS-3] allows unknown clients to try until then', async () => {
    const code = await protectedRoom(store.rooms);
    await guessByMany(store.rooms, code, 49);
    assert.equal((await tryPin(store.rooms, code, newClient(), right)).outcome, 'admitted');
    assert.equal(triesLeft(await tryPin(store.rooms, code, newClient(), wrong)), 4);
    assert.equal((await tryPin(store.rooms, code, newClient(), right)).outcome, 'pin-locked');
  });

  it('[GUESS-3] admits clients that gave the correct PIN, and the creator', async () => {
    const [maker, friend] = [newClient(), newClient()];
    const code = await createRoom(store.rooms, draft({ pinMac: right, creator: maker }));
    await tryPin(store.rooms, code, friend, right);
    await guessByMany(store.rooms, code, 50);
    assert.equal((await tryPin(store.rooms, code, maker, right)).outcome, 'admitted');
    assert.equal((await tryPin(store.rooms, code, friend, right)).outcome, 'admitted');
    assert.equal((await tryPin(store.rooms, code, newClient(), right)).outcome, 'pin-locked');
  });

  it('[GUESS-3] limits clients that know the PIN to their own five attempts', async () => {
    const maker = newClient();
    const code = await createRoom(store.rooms, draft({ pinMac: right, creator: maker }));
    await guessByMany(store.rooms, code, 50);
    await guessWrong(store.rooms, code, maker, 5);
    const locked = await tryPin(store.rooms, code, maker, right);
    assert.deepEqual(locked, { outcome: 'pin-locked', until: start + 30 * second });
  });

  it('[GUESS-3] counts within an hour, which starts with the first wrong PIN', async () => {
    const code = await protectedRoom(store.rooms);
    await guessWrong(store.rooms, code, newClient(), 1, start);
    await guessByMany(store.rooms, code, 28, start + hour - 1);
    await guessByMany(store.rooms, code, 49, start + hour);
    assert.equal((await tryPin(store.rooms, code, newClient(), right, start + hour)).outcome, 'admitted');
    await guessWrong(store.rooms, code, newClient(), 1, start + hour);
    const locked = await tryPin(store.rooms, code, newClient(), right, start + hour);
    assert.deepEqual(locked, { outcome: 'pin-locked', until: start + 2 * hour });
  });

  it('[GUESS-3] does not count correct PINs', async () => {
    const code = await protectedRoom(store.rooms);
    const client = newClient();
    for (let visits = 0; visits < 100; visits++) await tryPin(store.rooms, code, client, right);
    assert.equal((await tryPin(store.rooms, code, newClient(), right)).outcome, 'admitted');
  });

  it('[GUESS-3] evaluates exactly 50 of 200 concurrent wrong PINs from different clients', async () => {
    const code = await protectedRoom(store.rooms);
    const admissions = await Promise.all(
      Array.from({ length: 200 }, () => tryPin(store.rooms, code, newClient(), wrong)),
    );
    assert.deepEqual(tally(admissions), { 'pin-incorrect': 50, 'pin-locked': 150 });
  });
}

function lifeTests(open: OpenStore): void {
  const store = sharedStore(open, manyMisses);
  const expiresAt = start + 7 * 24 * hour;
  const forLife = { outcome: 'pin-locked', until: expiresAt, isForLife: true };
  const manyTries = (code: RoomCode, clients: string[], now: number) =>
    Promise.all(clients.map((client) => tryPin(store.rooms, code, client, wrong, now)));
  const clients = (count: number) => Array.from({ length: count }, newClient);
  const networks = (count: number, first: number) => Array.from({ length: count }, (_, n) => `172.${first + n}.0.1`);

  /** 80 wrong PINs within two hours, from one network. */
  async function guessedRoom(over: { creator?: string } = {}): Promise<RoomCode> {
    const code = await createRoom(store.rooms, draft({ pinMac: right, expiresAt, ...over }));
    await manyTries(code, clients(50), start);
    await manyTries(code, clients(30), start + hour);
    return code;
  }

  it('[GUESS-6] evaluates exactly 100 wrong PINs over the lifetime of a room, however many are concurrent', async () => {
    const code = await protectedRoom(store.rooms, expiresAt);
    assert.deepEqual(tally(await manyTries(code, clients(200), start)), { 'pin-incorrect': 50, 'pin-locked': 150 });
    const next = await manyTries(code, clients(200), start + hour);
    assert.deepEqual(tally(next), { 'pin-incorrect': 30, 'pin-locked': 170 });
    const last = await manyTries(code, networks(60, 1), start + 2 * hour);
    assert.deepEqual(tally(last), { 'pin-incorrect': 20, 'pin-locked': 40 });
    for (const client of [newClient(), '172.200.0.1']) {
      assert.deepEqual(await tryPin(store.rooms, code, client, right, expiresAt - 1), forLife);
    }
  });

  it('[GUESS-6] counts wrong PINs of clients that gave the correct PIN among the 80', async () => {
    const maker = newClient();
    const code = await createRoom(store.rooms, draft({ pinMac: right, creator: maker, expiresAt }));
    for (let hours = 0; hours < 40; hours++) await tryPin(store.rooms, code, maker, wrong, start + hours * hour);
    const answers = await manyTries(code, clients(200), start + 40 * hour);
    assert.deepEqual(tally(answers), { 'pin-incorrect': 40, 'pin-locked': 160 });
    assert.deepEqual(await tryPin(store.rooms, code, newClient(), right, start + 41 * hour), forLife);
  });

  it('[GUESS-6] admits clients that gave the correct PIN, and the creator', async () => {
    const [maker, friend] = [newClient(), newClient()];
    const code = await createRoom(store.rooms, draft({ pinMac: right, creator: maker, expiresAt }));
    await tryPin(store.rooms, code, friend, right);
    for (const hours of [0, 1]) await manyTries(code, clients(50), start + hours * hour);
    await manyTries(code, networks(20, 1), start + 2 * hour);
    assert.deepEqual(await tryPin(store.rooms, code, newClient(), right, start + day), forLife);
    for (const client of [maker, friend]) {
      assert.equal((await tryPin(store.rooms, code, client, right, start + day)).outcome, 'admitted');
    }
  });

  it('[GUESS-6] no longer trusts a client that sent 100 wrong PINs', async () => {
    const maker = newClient();
    const code = await guessedRoom({ creator: maker });
    let wrongOnes = 0;
    for (let now = start + 2 * hour; now < expiresAt; now += hour) {
      const { outcome } = await tryPin(store.rooms, code, maker, wrong, now);
      if (outcome !== 'pin-incorrect') break;
      wrongOnes += 1;
    }
    assert.equal(wrongOnes, 100);
    assert.deepEqual(await tryPin(store.rooms, code, maker, right, expiresAt - 1), forLife);
  });

  it('[GUESS-7] gives newcomers of other networks one attempt each, whatever lock is active', async () => {
    const code = await protectedRoom(store.rooms, expiresAt);
    await manyTries(code, clients(50), start);
    const [inside, guesser] = ['172.1.0.1', '172.2.0.1'];
    assert.equal((await tryPin(store.rooms, code, inside, right)).outcome, 'admitted');
    assert.equal((await tryPin(store.rooms, code, guesser, wrong)).outcome, 'pin-incorrect');
    const locked = { outcome: 'pin-locked', until: start + hour };
    assert.deepEqual(await tryPin(store.rooms, code, guesser, right), locked);
    assert.deepEqual(await tryPin(store.rooms, code, '172.2.3.4', right), locked);
    await manyTries(code, clients(50), start + hour);
    assert.deepEqual(await tryPin(store.rooms, code, newClient(), right, start + hour), forLife);
    assert.equal((await tryPin(store.rooms, code, '2001:db8:0:0::/64', right, start + hour)).outcome, 'admitted');
    assert.equal((await tryPin(store.rooms, code, 'key:abc', right, start + hour)).outcome, 'admitted');
  });

  it('[GUESS-7] evaluates exactly 20 wrong PINs of newcomers', async () => {
    const code = await guessedRoom();
    const answers = await manyTries(code, networks(200, 1), start + hour);
    assert.deepEqual(tally(answers), { 'pin-incorrect': 20, 'pin-locked': 180 });
  });

  it('[GUESS-6] [CHANGE-4] starts again with another PIN, and trusts only the given client', async () => {
    const [maker, friend] = [newClient(), newClient()];
    const code = await guessedRoom({ creator: maker });
    await store.rooms.notePinAttempt(code, start + hour);
    await tryPin(store.rooms, code, '172.1.0.1', right, start + hour);
    await guessWrong(store.rooms, code, maker, 5, start + hour);
    const before = await stateOf(code);
    const changed = await store.rooms.updateRoom(
      code,
      roomUpdate({ client: friend, pinMac: right, admittedBy: right }),
      start + hour,
    );
    assert.equal(typeof changed === 'object' && changed.seq, before.seq + 1);
    assert.deepEqual((await stateOf(code)).pinAttempts, 0);
    assert.equal((await tryPin(store.rooms, code, maker, right, start + hour)).outcome, 'admitted');
    const again = await manyTries(code, clients(60), start + hour);
    assert.deepEqual(tally(again), { 'pin-incorrect': 50, 'pin-locked': 10 });
    assert.equal((await tryPin(store.rooms, code, friend, right, start + hour)).outcome, 'admitted');
  });

  async function stateOf(code: RoomCode) {
    const state = await store.rooms.readState(code, start + hour);
    assert.ok(typeof state === 'object');
    return state;
  }
}

function keyTests(open: OpenStore): void {
  const store = sharedStore(open, manyMisses);
  const locked = (until: number) => ({ outcome: 'pin-locked', until, isKey: true });

  it('[GUESS-9] locks a client out for its own wrong keys, as for PINs', async () => {
    const code = await encryptedRoom(store.rooms);
    const client = newClient();
    const outcomes: Admission[] = [];
    for (let tries = 0; tries < 6; tries++) outcomes.push(await tryKey(store.rooms, code, client, wrong));
    assert.deepEqual(outcomes.map(triesLeft), [4, 3, 2, 1, 0, undefined]);
    assert.deepEqual(outcomes[5], locked(start + 30 * second));
    const later = start + 30 * second;
    assert.equal((await tryKey(store.rooms, code, client, wrong, later)).outcome, 'pin-incorrect');
    assert.deepEqual(await tryKey(store.rooms, code, client, wrong, later), locked(later + 60 * second));
    assert.equal(triesLeft(await tryKey(store.rooms, code, newClient(), wrong)), 4, 'another client');
  });

  it('[GUESS-9] admits the right key during the lock, and counts from the start after it', async () => {
    const code = await encryptedRoom(store.rooms);
    const client = newClient();
    for (let tries = 0; tries < 5; tries++) await tryKey(store.rooms, code, client, wrong);
    assert.equal((await tryKey(store.rooms, code, client, wrong)).outcome, 'pin-locked');
    const read = await store.rooms.read(accessAttempt(code, { client, keyHash: right }));
    assert.equal(read.outcome, 'admitted');
    assert.equal(triesLeft(await tryKey(store.rooms, code, client, wrong)), 4);
  });

  it('[GUESS-9] evaluates exactly 5 of 200 concurrent wrong keys, and admits the right one among them', async () => {
    const code = await encryptedRoom(store.rooms);
    const client = newClient();
    const keys = Array.from({ length: 200 }, (_, n) => mac(String(n)));
    const admissions = await Promise.all(keys.map((key) => tryKey(store.rooms, code, client, key)));
    assert.deepEqual(tally(admissions), { 'pin-incorrect': 5, 'pin-locked': 195 });
    const more = [...keys.slice(0, 50), right, ...keys.slice(50)];
    const again = await Promise.all(more.map((key) => tryKey(store.rooms, code, client, key)));
    assert.equal(tally(again).admitted, 1);
  });

  it('[GUESS-9] never locks out new clients because of the wrong keys of others', async () => {
    const code = await encryptedRoom(store.rooms, start + 7 * day);
    for (let hours = 0; hours < 3; hours++) {
      for (let n = 0; n < 80; n++) {
        const client = `10.${80 * hours + n}.0.1`;
        assert.equal((await tryKey(store.rooms, code, client, wrong, start + hours * hour)).outcome, 'pin-incorrect');
      }
    }
    const now = start + 2 * hour;
    assert.equal((await tryKey(store.rooms, code, '10.0.0.2', right, now)).outcome, 'admitted', 'of the same network');
    assert.equal((await tryKey(store.rooms, code, newClient(), right, now)).outcome, 'admitted');
    assert.equal(triesLeft(await tryKey(store.rooms, code, newClient(), wrong, now + hour)), 4);
  });

  it('[GUESS-9] counts 100 clients of a room separately, and further ones together', async () => {
    const code = await encryptedRoom(store.rooms);
    for (let n = 0; n < 100; n++)
      assert.equal(triesLeft(await tryKey(store.rooms, code, `10.${n}.0.1`, wrong)), 4, String(n));
    const further = Array.from({ length: 20 }, (_, n) => `11.${n}.0.1`);
    const admissions: Admission[] = [];
    for (const client of further) admissions.push(await tryKey(store.rooms, code, client, wrong));
    assert.deepEqual(tally(admissions), { 'pin-incorrect': 5, 'pin-locked': 15 });
    assert.equal(triesLeft(await tryKey(store.rooms, code, '10.0.0.1', wrong)), 3, 'it keeps its counter');
    for (const client of further)
      assert.equal((await tryKey(store.rooms, code, client, right)).outcome, 'admitted', client);
    const later = start + 2 * hour;
    assert.equal(triesLeft(await tryKey(store.rooms, code, '12.0.0.1', wrong, later)), 4, 'after the hour');
  });

  it('[GUESS-9] [GUESS-4] admits only the right key of a client with too many misses', async (t) => {
    const under = await ownStore(t, open);
    const client = newClient();
    const code = await encryptedRoom(under.store.rooms);
    const plain = await createRoom(under.store.rooms);
    const guarded = await protectedRoom(under.store.rooms);
    for (let misses = 0; misses < 20; misses++) await under.store.rooms.admit(accessAttempt(undefined, { client }));
    for (const reopened of [false, true]) {
      // As on another node, which did not see the misses.
      const { rooms } = reopened ? await under.reopen(start) : under.store;
      assert.equal((await tryKey(rooms, code, client, right)).outcome, 'admitted');
      for (const [room, key] of [
        [code, wrong],
        [plain, right],
        [guarded, right],
        [unknownCode(), right],
        [undefined, right],
      ] as const) {
        const attempt = accessAttempt(room, { client, keyHash: key, pinMac: right, deviceId: 'phone' });
        assert.equal((await rooms.admit(attempt)).outcome, 'too-many-misses', room ?? 'no code');
      }
      assert.equal((await rooms.admit(accessAttempt(code, { client }))).outcome, 'too-many-misses', 'without a key');
      assert.deepEqual(await rooms.listDevices(plain, start), []);
    }
    const { rooms } = await under.reopen(start);
    assert.equal(triesLeft(await tryKey(rooms, code, client, wrong, start + hour)), 4, 'none was counted');
  });

  it('[GUESS-9] [GUESS-5] keeps the lock of a client across a restart', async (t) => {
    const under = await ownStore(t, open, manyMisses);
    const code = await encryptedRoom(under.store.rooms);
    for (let tries = 0; tries < 5; tries++) await tryKey(under.store.rooms, code, '10.0.0.1', wrong);
    const { rooms } = await under.reopen(start);
    assert.equal((await tryKey(rooms, code, '10.0.0.1', wrong)).outcome, 'pin-locked');
    assert.equal((await tryKey(rooms, code, '10.0.0.1', right)).outcome, 'admitted');
  });
}

function missTests(open: OpenStore): void {
  const store = sharedStore(open);
  const unlimited = sharedStore(open, manyMisses);
  const lookUp = (code: RoomCode | undefined, client: string, now: number = start) =>
    store.rooms.admit(accessAttempt(code, { client, now }));

  it('[GUESS-4] rejects a client after 20 unknown codes, for the rest of the hour', async () => {
    const client = newClient();
    const code = await createRoom(store.rooms);
    for (let misses = 0; misses < 20; misses++) {
      assert.deepEqual(await lookUp(unknownCode(), client, start + misses), { outcome: 'unknown' });
    }
    const refused = { outcome: 'too-many-misses', until: start + hour };
    assert.deepEqual(await lookUp(unknownCode(), client, start + 20), refused);
    assert.deepEqual(await lookUp(code, client, start + hour - 1), refused);
    assert.equal((await lookUp(code, client, start + hour)).outcome, 'admitted');
  });

  it('[GUESS-4] counts invalid codes and wrong PINs as misses, too', async () => {
    const client = newClient();
    const [one, other] = [await protectedRoom(store.rooms), await protectedRoom(store.rooms)];
    await guessWrong(store.rooms, one, client, 5);
    await guessWrong(store.rooms, other, client, 5);
    for (let misses = 0; misses < 5; misses++) await lookUp(undefined, client);
    for (let misses = 0; misses < 5; misses++) assert.equal((await lookUp(unknownCode(), client)).outcome, 'unknown');
    assert.equal((await lookUp(await createRoom(store.rooms), client)).outcome, 'too-many-misses');
  });

  it('[GUESS-4] does not count existing rooms, expired ones, missing PINs or locks', async () => {
    const client = newClient();
    const live = await createRoom(store.rooms);
    const expired = await createRoom(store.rooms, { expiresAt: start - 1 });
    const locked = await protectedRoom(store.rooms);
    await guessWrong(store.rooms, locked, client, 5);
    for (let visits = 0; visits < 20; visits++) {
      assert.equal((await lookUp(live, client)).outcome, 'admitted');
      assert.equal((await lookUp(expired, client)).outcome, 'expired');
      assert.equal((await lookUp(locked, client)).outcome, 'pin-required');
      assert.equal((await tryPin(store.rooms, locked, client, wrong)).outcome, 'pin-locked');
    }
  });

  it('[GUESS-4] does not affect other clients', async () => {
    const client = newClient();
    for (let misses = 0; misses < 20; misses++) await lookUp(undefined, client);
    assert.equal((await lookUp(undefined, client)).outcome, 'too-many-misses');
    assert.equal((await lookUp(await createRoom(store.rooms), newClient())).outcome, 'admitted');
  });

  it('[GUESS-4] answers exactly 20 of 100 concurrent unknown codes', async () => {
    const client = newClient();
    const admissions = await Promise.all(Array.from({ length: 100 }, () => lookUp(unknownCode(), client)));
    assert.deepEqual(tally(admissions), { unknown: 20, 'too-many-misses': 80 });
  });

  it('[LINK-6] allows pages of other sites half of the misses, and the client itself all of them', async () => {
    const client = newClient();
    const lookUpFor = (isCrossSite: boolean) =>
      store.rooms.admit(accessAttempt(unknownCode(), { client, isCrossSite }));
    const ofPages = await Promise.all(Array.from({ length: 50 }, () => lookUpFor(true)));
    assert.deepEqual(tally(ofPages), { unknown: 10, 'too-many-misses': 40 });
    const own = await Promise.all(Array.from({ length: 50 }, () => lookUpFor(false)));
    assert.deepEqual(tally(own), { unknown: 10, 'too-many-misses': 40 });
  });

  it('[GUESS-4] takes the limit from its rules', async (t) => {
    const under = await open({ rules: guardRules(3), now: start });
    t.after(() => under.dispose());
    const client = newClient();
    const admissions: Admission[] = [];
    for (let misses = 0; misses < 5; misses++)
      admissions.push(await under.store.rooms.admit(accessAttempt(undefined, { client })));
    assert.deepEqual(tally(admissions), { unknown: 3, 'too-many-misses': 2 });
  });

  it('[GUESS-4] rejects no client if the limit is 0', async () => {
    const client = newClient();
    for (let misses = 0; misses < 100; misses++) {
      assert.equal((await unlimited.rooms.admit(accessAttempt(undefined, { client }))).outcome, 'unknown');
    }
  });
}

/** The store did not see the misses of these clients, as if it were on another node. */
function rejectedTests(open: OpenStore): void {
  const clients = Array.from({ length: 3 }, newClient);
  let under: StoreUnderTest;
  let rooms: RoomStore;
  before(async () => {
    under = await open({ rules: guardRules(20), now: start });
    const misses = clients.flatMap((client) => Array.from({ length: 20 }, () => accessAttempt(undefined, { client })));
    for (const miss of misses) await under.store.rooms.admit(miss);
    ({ rooms } = await under.reopen(start));
  });
  after(() => under.dispose());

  it('[GUESS-4] [GUESS-3] does not count a wrong PIN of a rejected client for the room', async () => {
    const client = clients[0] as string;
    const code = await protectedRoom(rooms);
    await guessByMany(rooms, code, 49);
    assert.equal((await tryPin(rooms, code, client, wrong)).outcome, 'too-many-misses');
    assert.equal((await tryPin(rooms, code, newClient(), right)).outcome, 'admitted');
  });

  it('[GUESS-4] [GUESS-3] does not trust a rejected client that sends the correct PIN', async () => {
    const client = clients[1] as string;
    const code = await protectedRoom(rooms);
    assert.equal((await tryPin(rooms, code, client, right)).outcome, 'too-many-misses');
    await guessByMany(rooms, code, 50, start + second);
    assert.equal((await tryPin(rooms, code, client, right, start + hour)).outcome, 'pin-locked');
  });

  it('[GUESS-4] [DEV-1] does not count the device of a rejected client', async () => {
    const client = clients[2] as string;
    const code = await createRoom(rooms);
    assert.equal((await rooms.admit(accessAttempt(code, { client, deviceId: 'phone' }))).outcome, 'too-many-misses');
    assert.deepEqual(await rooms.listDevices(code, start), []);
  });
}

/** With room for 100 counters in an hour, ten of them in one network. */
function floodTests(open: OpenStore): void {
  const flooded = { ...guardRules(20), countersPerWindow: 100 };
  const three: Quota = { tier: 'free', limit: 3, windowMs: hour };
  /** More clients than there are counters, each in its own network. */
  const flood = Array.from({ length: 300 }, (_, n) => `100.${n % 256}.${n >> 8}.1`).map((address, n) =>
    n < 256 ? address : address.replace('100.', '101.'),
  );

  it('[GUESS-8] keeps an exhausted request limit, and counts further clients with their network', async (t) => {
    const { rates } = (await ownStore(t, open, flooded)).store;
    const take = async (client: string, now: number = start) => (await rates.take(client, three, now)).granted;
    for (let n = 0; n < 4; n++) await take('10.0.0.1');
    assert.ok((await Promise.all(flood.map((client) => take(client)))).every(Boolean));
    assert.equal(await take('10.0.0.1', start + hour - 1), false);
    const neighbours = ['172.1.0.1', '172.1.0.2', '172.1.2.3', '172.1.3.4'];
    const granted = await Promise.all(neighbours.map((client) => take(client)));
    assert.equal(granted.filter(Boolean).length, 3, 'of a limit that they share');
    assert.equal((await rates.peek('172.1.9.9', three, start)).remaining, 0);
    assert.equal((await rates.peek('172.2.9.9', three, start)).remaining, 3);
    assert.equal(await take(flood[0] as string), true, 'who has a counter keeps it');
    assert.equal(await take('172.1.0.1', start + hour), true, 'and everyone has one again when the hour has passed');
  });

  it('[GUESS-8] keeps an exhausted miss limit, and counts further clients with their network', async (t) => {
    const { rooms } = (await ownStore(t, open, flooded)).store;
    const lookUp = async (client: string) => (await rooms.admit(accessAttempt(unknownCode(), { client }))).outcome;
    for (let n = 0; n < 21; n++) await lookUp('10.0.0.1');
    await Promise.all(flood.map(lookUp));
    assert.equal(await lookUp('10.0.0.1'), 'too-many-misses');
    const outcomes = await Promise.all(Array.from({ length: 30 }, (_, n) => lookUp(`172.1.0.${n}`)));
    assert.equal(outcomes.filter((outcome) => outcome === 'unknown').length, 20);
    assert.equal(await lookUp('172.1.0.99'), 'too-many-misses');
    assert.equal(await lookUp('172.2.0.1'), 'unknown');
  });

  it('[GUESS-8] gives one network a tenth of all counters', async (t) => {
    const { rates } = (await ownStore(t, open, flooded)).store;
    const take = async (client: string) => (await rates.take(client, three, start)).remaining;
    for (let n = 0; n < 10; n++) assert.equal(await take(`2001:db8:0:${n}::/64`), 2);
    assert.deepEqual(
      [await take('2001:db8:0:a::/64'), await take('2001:db8:1:b::/64'), await take('2001:db9:0:0::/64')],
      [2, 1, 2],
    );
  });

  it('[GUESS-8] keeps the wrong PINs of a room', async (t) => {
    const { rooms } = (await ownStore(t, open, { ...flooded, missesPerClient: 0 })).store;
    const code = await protectedRoom(rooms);
    await guessWrong(rooms, code, '10.0.0.1', 5);
    await Promise.all(flood.map(async (client) => tryPin(rooms, await protectedRoom(rooms), client, wrong)));
    assert.equal((await tryPin(rooms, code, '10.0.0.1', right)).outcome, 'pin-locked');
  });
}

function protectedRoom(rooms: RoomStore, expiresAt: number = start + 24 * hour): Promise<RoomCode> {
  return createRoom(rooms, { pinMac: right, expiresAt });
}

function encryptedRoom(rooms: RoomStore, expiresAt: number = start + 24 * hour): Promise<RoomCode> {
  return createRoom(rooms, { draw: drawSymbols('encrypted'), pinMac: right, salt: 'A'.repeat(22), expiresAt });
}

function tryKey(rooms: RoomStore, code: RoomCode, client: string, keyHash: Uint8Array, now: number = start) {
  return rooms.admit(accessAttempt(code, { client, keyHash, now }));
}

function tryPin(rooms: RoomStore, code: RoomCode, client: string, pinMac: Uint8Array, now: number = start) {
  return rooms.admit(accessAttempt(code, { client, pinMac, now }));
}

async function guessWrong(rooms: RoomStore, code: RoomCode, client: string, times: number, now: number = start) {
  for (let tries = 0; tries < times; tries++) {
    assert.equal((await tryPin(rooms, code, client, wrong, now)).outcome, 'pin-incorrect');
  }
}

/** Wrong PINs of other clients, none of which reaches its own limit. */
async function guessByMany(rooms: RoomStore, code: RoomCode, times: number, now: number = start) {
  for (let tries = 0; tries < times; tries++) await guessWrong(rooms, code, newClient(), 1, now);
}

function triesLeft(admission: Admission): number | undefined {
  return admission.outcome === 'pin-incorrect' ? admission.triesLeft : undefined;
}

function tally(admissions: Admission[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { outcome } of admissions) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
}
