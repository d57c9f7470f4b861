/** Room codes over the API. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import fc from 'fast-check';
import { readConfig } from '../../src/config.ts';
import type { RoomDraft } from '../../src/core/ports/rooms.ts';
import { createRooms } from '../../src/core/rooms.ts';
import { openEngine } from '../../src/engine/open.ts';
import { anyText } from '../contract/any-text.ts';
import { assertError } from '../support/assert-error.ts';
import { engineUnderTest } from '../support/engine.ts';
import { defaultLimits, noQuota } from '../support/no-quota.ts';
import { roomOperations } from '../support/room-operations.ts';
import { sharedServer, startTestServer } from '../support/server.ts';
import { inspectStore } from '../support/store-inspector.ts';

const unlimited = { POPROOM_FREE_LIMIT: '0', POPROOM_MISS_LIMIT: '0' };

describe('a new code', () => {
  it('[CODE-1] [CODE-2] has Crockford symbols, and more of them the more rooms exist', async (t) => {
    const { api } = await startTestServer(t, unlimited);
    const codes = await Promise.all(Array.from({ length: 197 }, () => api.room()));
    for (const code of codes) assert.match(code, /^[0-9A-HJKMNP-TV-Z]+$/);
    assert.equal(new Set(codes).size, 197);
    assert.deepEqual(lengthsOf(codes), { 6: 5, 7: 185, 8: 7 });
  });

  it('[CODE-2] is short again when rooms have expired, swept or not, or were deleted', async (t) => {
    const { api, clock } = await startTestServer(t, unlimited);
    const codes: string[] = [];
    for (let room = 0; room < 7; room++) codes.push(await api.room({ expiresIn: 60 }));
    for (const code of codes.slice(0, 3)) await api.delete(`/api/rooms/${code}`);
    assert.deepEqual([(await api.room()).length, (await api.room()).length], [6, 7]);
    clock.advance(60_000);
    assert.equal((await api.room()).length, 6);
  });

  it('[slow] [CODE-6] starts with E if the room is encrypted, and only then', async (t) => {
    const { api } = await sharedServer(t);
    const encrypted = {
      salt: Buffer.alloc(16).toString('base64url'),
      verifier: Buffer.alloc(32).toString('base64url'),
    };
    for (let pair = 0; pair < 64; pair++) {
      assert.doesNotMatch(await api.room(), /^E/);
      assert.match(await api.room({ encryption: { scheme: 'pop1', ...encrypted } }), /^E/);
    }
  });

  it('[CODE-4] is generated again if a room has it, or had it until recently', async (t) => {
    const { rooms, store, load, clock } = await roomsWithLoadedDice(t);
    const make = () => rooms.create({ client: 'someone', pin: undefined, expiresIn: 60, history: true });
    const { code: live } = await make();
    load(live, live);
    const { code: other } = await make();
    assert.notEqual(other, live);
    clock.now += 60_000;
    load(live);
    assert.notEqual((await make()).code, live, 'it has expired, but was not swept');
    await store.rooms.expireRooms(clock.now, 10);
    load(live);
    assert.notEqual((await make()).code, live, 'it has expired and was swept');
  });

  it('[CODE-4] is not generated forever if all are in use', async (t) => {
    const { rooms, load } = await roomsWithLoadedDice(t);
    const make = () => rooms.create({ client: 'someone', pin: undefined, expiresIn: 60, history: true });
    const { code } = await make();
    load(...Array<string>(20).fill(code));
    await assert.rejects(make(), { code: 'INTERNAL' });
  });
});

describe('a typed code', () => {
  it('[CODE-3] is accepted in any case, with spaces and dashes, O for 0, I and L for 1', async (t) => {
    const server = await startTestServer(t);
    await (await inspectStore(server)).changeCode(await server.api.room(), '0A1B2C');
    const typings = ['0A1B2C', '0a1b2c', '0A1-B2C', '%200a1%20b2c%20', 'OAIB2C', 'oalb2c', 'OaLb-2c', '-0-a-i-b-2-c-'];
    for (const typed of typings) {
      const { status, json } = await server.api.get(`/api/rooms/${typed}`);
      assert.equal(status, 200, typed);
      assert.equal(json.roomId, '0A1B2C');
    }
  });

  it('[CODE-3] is accepted by every operation', async (t) => {
    const { api } = await sharedServer(t);
    const code = await api.room();
    for (const { name, run, success } of roomOperations) {
      assert.equal((await run(api, `${code.slice(0, 3)}-${code.slice(3)}`.toLowerCase())).status, success, name);
    }
  });

  it('[CODE-3] is returned in its canonical form when the room is deleted', async (t) => {
    const { api } = await sharedServer(t);
    const code = await api.room();
    assert.ok((await api.delete(`/api/rooms/${code.toLowerCase()}`)).json.message.includes(code));
  });

  it('[CODE-5] returns 404 if no room has it, for every operation', async (t) => {
    const { api } = await sharedServer(t);
    for (const { name, run } of roomOperations) assertError(await run(api, '7KQ2MX'), 404, 'ROOM_NOT_FOUND', name);
  });

  it('[CODE-5] returns 404 if it cannot be a code', async (t) => {
    const { api } = await sharedServer(t);
    const notCodes = ['12345', '1'.repeat(13), '1'.repeat(5000), 'ABCDEU', 'undefined', 'null', '__proto__', '*', '-'];
    const encoded = ['%00', '%20', '%2F', '%2e%2e%2f', '%F0%9F%98%80', '%FF', '%', '%zz', "'%20OR%201=1--", '%u0041'];
    const lookalikes = ['ßßß000', 'ıııııı', 'ſſſſſſ', 'АВСЕНК', '٠١٢٣٤٥', '０Ａ１Ｂ２Ｃ'].map(encodeURIComponent);
    for (const text of [...notCodes, ...encoded, ...lookalikes]) {
      assertError(await api.get(`/api/rooms/${text}`), 404, 'ROOM_NOT_FOUND', text);
    }
  });

  it('[CODE-5] returns 404 if it has letters of other alphabets, even if they look like a code', async (t) => {
    const server = await startTestServer(t);
    await (await inspectStore(server)).changeCode(await server.api.room(), 'SS11FF');
    assert.equal((await server.api.get('/api/rooms/ssi1ff')).status, 200);
    for (const typed of ['ß11ff', 'ſſ11ff', 'ssıiff', 'ss11ﬀ']) {
      const response = await server.api.get(`/api/rooms/${encodeURIComponent(typed)}`);
      assertError(response, 404, 'ROOM_NOT_FOUND', typed);
    }
  });

  it('[CODE-5] returns 404 for any other input', async (t) => {
    const { api } = await startTestServer(t, unlimited);
    // A client takes the segments `.` and `..` out of a path before it sends it.
    const typed = anyText(30).filter((text) => !['', '.', '..'].includes(text));
    const isUnknown = fc.asyncProperty(typed, async (text) => {
      assertError(await api.get(`/api/rooms/${encodeURIComponent(text)}/content`), 404, 'ROOM_NOT_FOUND', text);
    });
    await fc.assert(isUnknown, { numRuns: 200 });
  });
});

function lengthsOf(codes: string[]): Record<number, number> {
  const lengths: Record<number, number> = {};
  for (const { length } of codes) lengths[length] = (lengths[length] ?? 0) + 1;
  return lengths;
}

/** The real core on the real store, with a random source that the test controls. */
async function roomsWithLoadedDice(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'poproom-'));
  const clock = { now: Date.UTC(2026, 10, 15) };
  const config = readConfig({ POPROOM_DATA_DIR: folder, ...engineUnderTest() });
  const { store, blobs, bus, secret, close } = await openEngine(config, () => clock.now);
  t.after(async () => {
    await close();
    await rm(folder, { recursive: true });
  });
  const nextDraws: string[] = [];
  const createRoom = (draft: RoomDraft) => {
    const loaded = nextDraws.shift();
    return store.rooms.createRoom(loaded ? { ...draft, draw: loaded + draft.draw.slice(loaded.length) } : draft);
  };
  const parts = {
    ...{ ...store, rooms: { ...store.rooms, createRoom }, quota: noQuota, limits: defaultLimits },
    ...{ blobs, bus, secret, clock: () => clock.now },
  };
  const rooms = createRooms(parts, { lifetime: 60, longestLifetime: 60, largestContent: 10 });
  return { rooms, store, clock, load: (...draws: string[]) => void nextDraws.push(...draws) };
}
