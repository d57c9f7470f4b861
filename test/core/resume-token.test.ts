/** The validity of resume tokens. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Room } from '../../src/core/ports/basics.ts';
import type { RoomCode } from '../../src/core/room-code.ts';
import { areOfSameRoom, createResumeTokens } from '../../src/core/tokens.ts';

const start = Date.UTC(2026, 0, 15, 9, 30, 1);
const minute = 60_000;
const code = '7KQ2MX' as RoomCode;
const pinMac = new Uint8Array(32).fill(7);
const roomOf = (over: Partial<Room> = {}) =>
  ({ code, createdAt: start, expiresAt: start + 1, hasPin: true, fileCount: 0, fileBytes: 0, ...over }) as Room;
const at = (ms: number, secret = 'a secret') => createResumeTokens(secret, () => start + ms);

describe('a resume token', () => {
  const state = { room: roomOf(), pinMac };
  const { token } = at(0).issue(state);

  it('[LIVE-21] is valid for at least eleven minutes, and never for fifteen', () => {
    for (const ms of [0, minute, 11 * minute]) assert.ok(at(ms).isGenuine(token, code));
    for (const ms of [15 * minute, 3600 * minute]) assert.ok(!at(ms).isGenuine(token, code));
    assert.ok(!at(-60 * minute).isGenuine(token, code), 'nor one of a clock that was ahead');
  });

  it('[LIVE-21] is the same for everyone in the room, and changes soon', () => {
    assert.equal(at(10_000).issue({ room: roomOf({ fileCount: 3 }), pinMac }).token, token);
    const last = at(0).issue(state);
    assert.equal(at(10_000).issue(state, last), last);
    assert.notEqual(at(minute).issue(state, last).token, token);
    assert.notEqual(at(0).issue({ ...state, pinMac: undefined }, last).token, token);
  });

  it('[LIVE-22] belongs to one service and one room code', () => {
    assert.ok(at(0).isGenuine(token, '7kq2-mx'));
    assert.ok(!at(0, 'another secret').isGenuine(token, code));
    for (const other of ['7KQ2MY', '', 'no code at all']) assert.ok(!at(0).isGenuine(token, other));
    for (const rubbish of ['', '..', token.toUpperCase(), `${token}A`]) assert.ok(!at(0).isGenuine(rubbish, code));
  });

  it('[LIVE-22] does not match a room with another PIN, without a PIN, or created at another time', () => {
    const later = at(5 * minute);
    assert.ok(areOfSameRoom(token, later.issue(state).token));
    const others = [
      { room: roomOf(), pinMac: new Uint8Array(32).fill(8) },
      { room: roomOf(), pinMac: undefined },
      { room: roomOf({ createdAt: start + 1 }), pinMac },
    ];
    for (const other of others) assert.ok(!areOfSameRoom(token, later.issue(other).token));
  });
});
