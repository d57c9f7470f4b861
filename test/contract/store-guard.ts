/** The guards against guessing PINs and codes. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { guardRules } from '../../src/core/limits.ts';
import type { Admission, RoomStore } from '../../src/core/ports.ts';
import type { RoomCode } from '../../src/core/room-code.ts';
import {
  draft,
  hour,
  mac,
  makeRoom,
  manyMisses,
  newClient,
  type OpenStore,
  ownStore,
  second,
  sharedStore,
  start,
  unknownCode,
  visit,
} from './store-under-test.ts';

const right = mac('0427');
const wrong = mac('9999');

export function guardTests(open: OpenStore): void {
  describe('wrong PINs of one client', () => clientTests(open));
  describe('wrong PINs of all clients', () => roomTests(open));
  describe('misses of one client over all rooms', () => missTests(open));
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

  it('[GUESS-2] refuses even the right PIN while the lock lasts, and admits with it when the lock ends', async () => {
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

  it('[GUESS-2] does not count tries, nor lengthen the lock, while it lasts', async () => {
    const code = await protectedRoom(store.rooms);
    const client = newClient();
    await guessWrong(store.rooms, code, client, 5);
    for (let tries = 0; tries < 20; tries++) await tryPin(store.rooms, code, client, wrong, start + second);
    const next = await tryPin(store.rooms, code, client, wrong, start + 30 * second);
    assert.deepEqual(next, { outcome: 'pin-incorrect', triesLeft: 0, lockedUntil: start + 90 * second });
  });

  it('[GUESS-2] begins anew after the right PIN', async () => {
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

  it('[GUESS-1] evaluates exactly 5 of 200 wrong PINs at once', async () => {
    const code = await protectedRoom(store.rooms);
    const client = newClient();
    const admissions = await Promise.all(
      Array.from({ length: 200 }, (_, n) => tryPin(store.rooms, code, client, mac(String(n)))),
    );
    assert.deepEqual(tally(admissions), { 'pin-incorrect': 5, 'pin-locked': 195 });
  });

  it('[GUESS-1] does not evaluate the right PIN when it comes after 5 wrong ones at once', async () => {
    const code = await protectedRoom(store.rooms);
    const client = newClient();
    const pins = [...Array.from({ length: 199 }, (_, n) => mac(String(n))), right];
    const admissions = await Promise.all(pins.map((pin) => tryPin(store.rooms, code, client, pin)));
    assert.deepEqual(tally(admissions), { 'pin-incorrect': 5, 'pin-locked': 195 });
  });

  it('[PIN-2] does not take a request without a PIN for a try', async () => {
    const code = await protectedRoom(store.rooms);
    const client = newClient();
    for (let asked = 0; asked < 30; asked++) await store.rooms.admit(visit(code, { client }));
    assert.equal(triesLeft(await tryPin(store.rooms, code, client, wrong)), 4);
  });
}

function roomTests(open: OpenStore): void {
  const store = sharedStore(open, manyMisses);

  it('[GUESS-3] shuts strangers out after 50 wrong PINs, for the rest of the hour', async () => {
    const code = await protectedRoom(store.rooms);
    await guessByMany(store.rooms, code, 50);
    const locked = { outcome: 'pin-locked', until: start + hour };
    assert.deepEqual(await tryPin(store.rooms, code, newClient(), right, start + second), locked);
    assert.deepEqual(await tryPin(store.rooms, code, newClient(), wrong, start + hour - 1), locked);
    assert.equal((await tryPin(store.rooms, code, newClient(), right, start + hour)).outcome, 'admitted');
  });

  it('[GUESS-3] lets strangers try until then', async () => {
    const code = await protectedRoom(store.rooms);
    await guessByMany(store.rooms, code, 49);
    assert.equal((await tryPin(store.rooms, code, newClient(), right)).outcome, 'admitted');
    assert.equal(triesLeft(await tryPin(store.rooms, code, newClient(), wrong)), 4);
    assert.equal((await tryPin(store.rooms, code, newClient(), right)).outcome, 'pin-locked');
  });

  it('[GUESS-3] keeps those who gave the right PIN, and the maker, working', async () => {
    const [maker, friend] = [newClient(), newClient()];
    const code = await makeRoom(store.rooms, draft({ pinMac: right, creator: maker }));
    await tryPin(store.rooms, code, friend, right);
    await guessByMany(store.rooms, code, 50);
    assert.equal((await tryPin(store.rooms, code, maker, right)).outcome, 'admitted');
    assert.equal((await tryPin(store.rooms, code, friend, right)).outcome, 'admitted');
    assert.equal((await tryPin(store.rooms, code, newClient(), right)).outcome, 'pin-locked');
  });

  it('[GUESS-3] holds those who know the PIN to their own five tries', async () => {
    const maker = newClient();
    const code = await makeRoom(store.rooms, draft({ pinMac: right, creator: maker }));
    await guessByMany(store.rooms, code, 50);
    await guessWrong(store.rooms, code, maker, 5);
    const locked = await tryPin(store.rooms, code, maker, right);
    assert.deepEqual(locked, { outcome: 'pin-locked', until: start + 30 * second });
  });

  it('[GUESS-3] counts by the hour, which begins with the first wrong PIN', async () => {
    const code = await protectedRoom(store.rooms);
    await guessWrong(store.rooms, code, newClient(), 1, start);
    await guessByMany(store.rooms, code, 48, start + hour - 1);
    await guessByMany(store.rooms, code, 49, start + hour);
    assert.equal((await tryPin(store.rooms, code, newClient(), right, start + hour)).outcome, 'admitted');
    await guessWrong(store.rooms, code, newClient(), 1, start + hour);
    const locked = await tryPin(store.rooms, code, newClient(), right, start + hour);
    assert.deepEqual(locked, { outcome: 'pin-locked', until: start + 2 * hour });
  });

  it('[GUESS-3] does not count right PINs', async () => {
    const code = await protectedRoom(store.rooms);
    const client = newClient();
    for (let visits = 0; visits < 100; visits++) await tryPin(store.rooms, code, client, right);
    assert.equal((await tryPin(store.rooms, code, newClient(), right)).outcome, 'admitted');
  });

  it('[GUESS-3] evaluates exactly 50 of 200 wrong PINs that as many clients send at once', async () => {
    const code = await protectedRoom(store.rooms);
    const admissions = await Promise.all(
      Array.from({ length: 200 }, () => tryPin(store.rooms, code, newClient(), wrong)),
    );
    assert.deepEqual(tally(admissions), { 'pin-incorrect': 50, 'pin-locked': 150 });
  });
}

function missTests(open: OpenStore): void {
  const store = sharedStore(open);
  const lookUp = (code: RoomCode | undefined, client: string, now: number = start) =>
    store.rooms.admit(visit(code, { client, now }));

  it('[GUESS-4] refuses a client after 20 unknown codes, for the rest of the hour', async () => {
    const client = newClient();
    const code = await makeRoom(store.rooms);
    for (let misses = 0; misses < 20; misses++) {
      assert.deepEqual(await lookUp(unknownCode(), client, start + misses), { outcome: 'unknown' });
    }
    const refused = { outcome: 'too-many-misses', until: start + hour };
    assert.deepEqual(await lookUp(unknownCode(), client, start + 20), refused);
    assert.deepEqual(await lookUp(code, client, start + hour - 1), refused);
    assert.equal((await lookUp(code, client, start + hour)).outcome, 'admitted');
  });

  it('[GUESS-4] counts what cannot be a code, and wrong PINs, as misses too', async () => {
    const client = newClient();
    const [one, other] = [await protectedRoom(store.rooms), await protectedRoom(store.rooms)];
    await guessWrong(store.rooms, one, client, 5);
    await guessWrong(store.rooms, other, client, 5);
    for (let misses = 0; misses < 5; misses++) await lookUp(undefined, client);
    for (let misses = 0; misses < 5; misses++) assert.equal((await lookUp(unknownCode(), client)).outcome, 'unknown');
    assert.equal((await lookUp(await makeRoom(store.rooms), client)).outcome, 'too-many-misses');
  });

  it('[GUESS-4] counts neither rooms that are there, nor expired ones, nor missing PINs, nor locks', async () => {
    const client = newClient();
    const live = await makeRoom(store.rooms);
    const expired = await makeRoom(store.rooms, { expiresAt: start - 1 });
    const locked = await protectedRoom(store.rooms);
    await guessWrong(store.rooms, locked, client, 5);
    for (let visits = 0; visits < 20; visits++) {
      assert.equal((await lookUp(live, client)).outcome, 'admitted');
      assert.equal((await lookUp(expired, client)).outcome, 'expired');
      assert.equal((await lookUp(locked, client)).outcome, 'pin-required');
      assert.equal((await tryPin(store.rooms, locked, client, wrong)).outcome, 'pin-locked');
    }
  });

  it('[GUESS-4] refuses no other client', async () => {
    const client = newClient();
    for (let misses = 0; misses < 20; misses++) await lookUp(undefined, client);
    assert.equal((await lookUp(undefined, client)).outcome, 'too-many-misses');
    assert.equal((await lookUp(await makeRoom(store.rooms), newClient())).outcome, 'admitted');
  });

  it('[GUESS-4] answers exactly 20 of 100 unknown codes at once', async () => {
    const client = newClient();
    const admissions = await Promise.all(Array.from({ length: 100 }, () => lookUp(unknownCode(), client)));
    assert.deepEqual(tally(admissions), { unknown: 20, 'too-many-misses': 80 });
  });

  /** A client that is refused, and rooms that did not see it come to that, as on another node. */
  async function shutOut(t: TestContext): Promise<{ rooms: RoomStore; client: string }> {
    const under = await ownStore(t, open);
    const client = newClient();
    for (let misses = 0; misses < 20; misses++) await under.store.rooms.admit(visit(undefined, { client }));
    return { rooms: (await under.reopen(start)).rooms, client };
  }

  it('[GUESS-4] [GUESS-3] counts no wrong PIN of a client that is refused on the room', async (t) => {
    const { rooms, client } = await shutOut(t);
    const code = await protectedRoom(rooms);
    await guessByMany(rooms, code, 49);
    assert.equal((await tryPin(rooms, code, client, wrong)).outcome, 'too-many-misses');
    assert.equal((await tryPin(rooms, code, newClient(), right)).outcome, 'admitted');
  });

  it('[GUESS-4] [GUESS-3] does not take a client that is refused for one that knows the PIN', async (t) => {
    const { rooms, client } = await shutOut(t);
    const code = await protectedRoom(rooms);
    assert.equal((await tryPin(rooms, code, client, right)).outcome, 'too-many-misses');
    await guessByMany(rooms, code, 50, start + second);
    assert.equal((await tryPin(rooms, code, client, right, start + hour)).outcome, 'pin-locked');
  });

  it('[GUESS-4] [DEV-1] does not count the device of a client that is refused', async (t) => {
    const { rooms, client } = await shutOut(t);
    const code = await makeRoom(rooms);
    assert.equal((await rooms.admit(visit(code, { client, deviceId: 'phone' }))).outcome, 'too-many-misses');
    assert.deepEqual(await rooms.listDevices(code, start), []);
  });

  it('[GUESS-4] takes the limit from its rules', async (t) => {
    const under = await open({ rules: guardRules(3), now: start });
    t.after(() => under.dispose());
    const client = newClient();
    const admissions: Admission[] = [];
    for (let misses = 0; misses < 5; misses++)
      admissions.push(await under.store.rooms.admit(visit(undefined, { client })));
    assert.deepEqual(tally(admissions), { unknown: 3, 'too-many-misses': 2 });
  });

  it('[GUESS-4] refuses no one when the limit is 0', async (t) => {
    const under = await open({ rules: guardRules(0), now: start });
    t.after(() => under.dispose());
    const client = newClient();
    for (let misses = 0; misses < 100; misses++) {
      assert.equal((await under.store.rooms.admit(visit(undefined, { client }))).outcome, 'unknown');
    }
  });
}

function protectedRoom(rooms: RoomStore, expiresAt: number = start + 24 * hour): Promise<RoomCode> {
  return makeRoom(rooms, { pinMac: right, expiresAt });
}

function tryPin(rooms: RoomStore, code: RoomCode, client: string, pinMac: Uint8Array, now: number = start) {
  return rooms.admit(visit(code, { client, pinMac, now }));
}

async function guessWrong(rooms: RoomStore, code: RoomCode, client: string, times: number, now: number = start) {
  for (let tries = 0; tries < times; tries++) {
    assert.equal((await tryPin(rooms, code, client, wrong, now)).outcome, 'pin-incorrect');
  }
}

/** Wrong PINs of strangers, none of whom comes near a limit of its own. */
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
