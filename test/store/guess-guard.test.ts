/** The guards of many rooms: their number is limited, and none with wrong PINs is dropped. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { guardRules } from '../../src/core/limits.ts';
import { createGuessGuard } from '../../src/store/sqlite/access.ts';
import { day, hour, second, start, unknownCode } from '../contract/store-under-test.ts';

const newRoom = () => ({ code: unknownCode(), expiresAt: start + day });
const guest = { client: '10.0.0.1', now: start };

describe('the PIN guards of rooms', () => {
  it('[GUESS-8] drop rooms without wrong PINs when there are too many, and never a lock', () => {
    const guard = createGuessGuard(guardRules(0), () => 0, 10);
    const locked = newRoom();
    for (let n = 0; n < 5; n++) guard.tryPin(locked, guest, () => false);
    const quiet = Array.from({ length: 100 }, newRoom);
    for (const room of quiet) guard.trust(room, 'maker', start);
    assert.deepEqual(
      guard.tryPin(locked, guest, () => true),
      { outcome: 'locked', until: start + 30 * second },
    );
    assert.equal(quiet.filter(({ code }) => guard.trusted(code, start).length > 0).length, 9);
  });

  it('[GUESS-8] [GUESS-9] drop no counter of wrong keys, and always admit the right one', () => {
    const guard = createGuessGuard(guardRules(0), () => 0, 10);
    const guessed = Array.from({ length: 10 }, newRoom);
    for (const room of guessed) for (let n = 0; n < 5; n++) guard.tryKey(room, guest, () => false);
    const further = newRoom();
    assert.equal(guard.tryKey(further, guest, () => false).outcome, 'locked', 'it cannot be counted');
    assert.equal(guard.tryKey(further, guest, () => true).outcome, 'right');
    for (const room of guessed) assert.equal(guard.tryKey(room, guest, () => false).outcome, 'locked');
    const later = { ...guest, now: start + 2 * hour };
    assert.equal(guard.tryKey(further, later, () => false).outcome, 'wrong', 'after their locks');
  });

  it('[GUESS-8] admit nobody when they cannot count', () => {
    const guard = createGuessGuard(guardRules(0), () => 0, 10);
    const guessed = Array.from({ length: 10 }, newRoom);
    for (const room of guessed) guard.tryPin(room, guest, () => false);
    const further = newRoom();
    const refused = { outcome: 'locked', until: start + 30 * second };
    assert.deepEqual(
      guard.tryPin(further, guest, () => true),
      refused,
    );
    for (const room of guessed) assert.equal(guard.tryPin(room, guest, () => true).outcome, 'right');
    const later = { ...guest, now: start + day };
    const tomorrow = { ...further, expiresAt: start + 2 * day };
    assert.equal(guard.tryPin(tomorrow, later, () => true).outcome, 'right', 'after their rooms have ended');
  });
});
