/** The validity of tickets. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Room } from '../../src/core/ports/basics.ts';
import type { RoomCode } from '../../src/core/room-code.ts';
import { createResumeTokens, createTickets } from '../../src/core/tokens.ts';

const start = Date.UTC(2026, 0, 15, 9, 30, 1);
const code = '7KQ2MX' as RoomCode;
const pinMac = new Uint8Array(32).fill(7);
const roomOf = (over: Partial<Room> = {}) =>
  ({ code, createdAt: start, expiresAt: start + 1, hasPin: true, fileCount: 0, fileBytes: 0, ...over }) as Room;
const at = (ms: number, secret = 'a secret') => createTickets(secret, () => start + ms);

describe('a ticket', () => {
  const state = { room: roomOf(), pinMac };
  const { ticket, expiresAt } = at(0).issue(state);

  it('[ZIP-7] is valid for 60 seconds', () => {
    assert.equal(expiresAt, start + 60_000);
    for (const ms of [0, 30_000, 59_999]) assert.ok(at(ms).isGenuine(ticket, code));
    for (const ms of [60_000, 3_600_000]) assert.ok(!at(ms).isGenuine(ticket, code));
    assert.ok(!at(-3_600_000).isGenuine(ticket, code), 'nor one of a clock that was ahead');
  });

  it('[ZIP-7] is valid for one room, its life and its PIN, and not for a later room with the same code', () => {
    assert.ok(at(1).isFor(ticket, { room: roomOf({ fileCount: 3 }), pinMac }));
    assert.ok(!at(1).isFor(ticket, { room: roomOf({ createdAt: start + 1 }), pinMac }));
    assert.ok(!at(1).isFor(ticket, { room: roomOf(), pinMac: new Uint8Array(32).fill(8) }));
    assert.ok(!at(1).isFor(ticket, { room: roomOf(), pinMac: undefined }));
    assert.ok(!at(1).isGenuine(ticket, '7KQ2MY'));
  });

  it('[ZIP-7] is verified with the secret, and is not a resume token', () => {
    assert.ok(!at(1, 'another secret').isGenuine(ticket, code));
    const { token } = createResumeTokens('a secret', () => start).issue(state);
    assert.ok(!at(0).isGenuine(token, code));
    for (const i of [0, 8, ticket.length - 1]) {
      const changed = ticket.slice(0, i) + (ticket[i] === 'a' ? 'b' : 'a') + ticket.slice(i + 1);
      assert.ok(!at(1).isGenuine(changed, code), changed);
    }
    for (const malformed of ['', '..', `${ticket}x`, ticket.slice(1)]) assert.ok(!at(1).isGenuine(malformed, code));
  });
});
