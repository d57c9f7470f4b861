/** Requests with idempotency keys: a change and the record of its request are stored together, and only once. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import type { FinishedRequest, RequestRecord } from '../../src/core/ports/basics.ts';
import type { RoomDraft, RoomStore } from '../../src/core/ports/rooms.ts';
import type { RoomCode } from '../../src/core/room-code.ts';
import {
  countedFiles,
  createRoom,
  day,
  draft,
  file,
  hour,
  insertion,
  type OpenStore,
  ownStore,
  quota,
  type RoomStores,
  second,
  sharedStore,
  start,
  textAppend,
  textOf,
  unknownCode,
} from './store-under-test.ts';

/** In Redis, a lease ends by the real time, so it is longer than the test takes. */
const lease = hour;
const expiresAt = start + day;
const fingerprint = 'f'.repeat(64);
const bounds = { perClient: 500, inTotal: 100_000 };

export function newRecord(over: Partial<RequestRecord> = {}): RequestRecord {
  const client = randomBytes(6).toString('hex');
  const result = randomBytes(20).toString('base64');
  return { client, key: randomBytes(32).toString('hex'), fingerprint, result, expiresAt, ...bounds, ...over };
}

/** The part of a record that the store returns. */
const requestOf = ({ result }: RequestRecord): FinishedRequest => ({ fingerprint, result });

const append = (store: RoomStores, code: RoomCode, version: number, record: RequestRecord) =>
  store.texts.appendText(code, textAppend(insertion(version, '+'), { record }));

/** Creates a room as core does. Its result contains the draw. */
export async function createOnce(
  rooms: RoomStore,
  record: RequestRecord,
  over: Partial<RoomDraft> = {},
): Promise<RoomCode> {
  const { draw, ...drafted } = draft(over);
  const make = (symbols: string, claim = {}) =>
    rooms.createRoom({ ...drafted, ...claim, draw: symbols }, { ...record, result: symbols });
  let made = await make(draw);
  if (typeof made === 'object' && 'claimed' in made) {
    const { result, codeLength = 0 } = made.claimed;
    made = await make(result, { claimedLength: codeLength });
  }
  if (typeof made === 'string') return made;
  assert.ok(made && 'repeated' in made);
  return made.repeated.result.slice(0, made.repeated.codeLength) as RoomCode;
}

export function idempotencyTests(open: OpenStore): void {
  describe('a request with a key', () => {
    const store = sharedStore(open);

    it('[IDEM-1] appends once to a text, of 20 concurrent ones, and the others receive its result', async () => {
      const { rooms, idempotency } = store;
      const code = await createRoom(rooms);
      const record = newRecord();
      const own = Array.from({ length: 20 }, () => ({ ...record, result: randomBytes(9).toString('base64') }));
      const outcomes = await Promise.all(own.map((one) => append(store, code, 1, one)));
      const winner = outcomes.findIndex(({ outcome }) => outcome === 'appended');
      const request = requestOf(own[winner] as RequestRecord);
      assert.deepEqual(outcomes.toSpliced(winner, 1), Array(19).fill({ outcome: 'repeated', request }));
      assert.deepEqual(await append(store, code, 2, record), { outcome: 'repeated', request });
      assert.equal((await textOf(rooms, code))?.content, '+');
      assert.deepEqual(await idempotency.find(code, record, expiresAt - 1), request);
      assert.equal(await idempotency.find(code, record, expiresAt), undefined);
    });

    it('[IDEM-1] leaves no record if its text is not appended', async () => {
      const { rooms, idempotency } = store;
      const code = await createRoom(rooms);
      const record = newRecord();
      assert.equal((await append(store, code, 2, record)).outcome, 'stale');
      assert.equal(await idempotency.find(code, record, start), undefined);
      assert.equal((await append(store, code, 1, record)).outcome, 'appended');
      assert.equal((await append(store, unknownCode(), 1, newRecord())).outcome, 'gone');
    });

    it('[IDEM-1] creates one room, of 20 concurrent ones, also when their times and draws differ', async () => {
      const { rooms } = store;
      const record = newRecord();
      const before = await rooms.countRooms(start);
      const created = await Promise.all(
        Array.from({ length: 20 }, (_, n) => createOnce(rooms, record, { createdAt: start + n })),
      );
      assert.equal(new Set(created).size, 1);
      const [code] = created as [RoomCode];
      assert.deepEqual(await textOf(rooms, code).then((text) => text?.version), 0);
      assert.equal((await rooms.countRooms(start)) - before, 1);
      await rooms.deleteRoom(code, start);
      assert.equal(await createOnce(rooms, record), code, 'it is not created again after its deletion');
      assert.equal(await textOf(rooms, code), undefined);
      assert.equal((await rooms.countRooms(start)) - before, 0);
      assert.notEqual(await createOnce(rooms, record, { createdAt: expiresAt, expiresAt: expiresAt + day }), code);
    });

    it('[IDEM-1] adds one file, of 20 concurrent ones, and leaves no record if there is no space', async () => {
      const { rooms, idempotency, storage } = store;
      const code = await createRoom(rooms);
      const record = newRecord();
      const none = { files: 0, bytes: 0 };
      assert.equal(await store.files.addFile(code, file(), none, record), 'full');
      assert.equal(await idempotency.find(code, record, start), undefined);
      const owner = { client: randomBytes(6).toString('hex'), network: undefined };
      const add = () => store.files.addFile(code, file({ owner }), quota, record);
      const added = await Promise.all(Array.from({ length: 20 }, add));
      const repeated = added.filter((outcome) => typeof outcome === 'object' && 'repeated' in outcome);
      assert.deepEqual(repeated, Array(19).fill({ repeated: requestOf(record) }));
      assert.deepEqual(
        [(await store.files.listFiles(code, start)).length, await countedFiles(rooms, code)],
        [1, countedOne],
      );
      assert.equal(await storage.usageOf(owner.client), countedOne.bytes);
      assert.deepEqual(await store.files.addFile(code, file(), none, record), { repeated: requestOf(record) });
    });

    it('[IDEM-3] has a lease, of 20 concurrent ones, and the others learn how long', async () => {
      const { rooms, idempotency } = store;
      const [code, record] = [await createRoom(rooms), newRecord()];
      const begin = (runner: string) => idempotency.begin(code, record, runner, start, lease);
      const outcomes = await Promise.all(Array.from({ length: 20 }, (_, n) => begin(`r${n}`)));
      const winner = outcomes.findIndex(({ state }) => state === 'started');
      for (const other of outcomes.toSpliced(winner, 1)) {
        assert.ok(other.state === 'running' && other.leaseMs > 0 && other.leaseMs <= lease);
      }
      await idempotency.end(code, record, 'other');
      await idempotency.renew(code, record, 'other', start, 1);
      assert.equal((await begin('two')).state, 'running', 'only its runner may end or renew it');
      await idempotency.renew(code, record, `r${winner}`, start, 2 * hour);
      const renewed = await begin('two');
      assert.ok(renewed.state === 'running' && renewed.leaseMs > lease);
      await idempotency.end(code, record, `r${winner}`);
      assert.deepEqual(await begin('two'), { state: 'started' });
      await store.files.addFile(code, file(), quota, record);
      assert.deepEqual(await begin('three'), { state: 'finished', request: requestOf(record) });
    });

    it('[IDEM-2] is independent of other clients and keys', async () => {
      const { rooms } = store;
      const code = await createRoom(rooms);
      const record = newRecord();
      await append(store, code, 1, record);
      for (const [n, other] of [newRecord(), newRecord({ client: record.client })].entries()) {
        assert.equal((await append(store, code, n + 2, other)).outcome, 'appended');
      }
    });

    it('[IDEM-4] replaces the oldest of its client when there are too many, and of nobody else', async () => {
      const { rooms, idempotency } = store;
      const code = await createRoom(rooms);
      const other = newRecord();
      await append(store, code, 1, other);
      const { client } = newRecord();
      const records = Array.from({ length: 5 }, (_, n) =>
        newRecord({ client, perClient: 3, expiresAt: expiresAt + n }),
      );
      for (const [n, record] of records.entries()) await append(store, code, n + 2, record);
      const found = await Promise.all(records.map((record) => idempotency.find(code, record, start)));
      assert.deepEqual(found, [undefined, undefined, ...records.slice(2).map(requestOf)]);
      assert.deepEqual(await idempotency.find(code, other, start), requestOf(other));
    });

    it('[IDEM-1] can use its key for another change when its record has expired', async () => {
      const { rooms, idempotency } = store;
      const code = await createRoom(rooms, { expiresAt: start + 3 * day });
      const record = newRecord();
      await append(store, code, 1, record);
      const again = { ...record, result: 'later', expiresAt: expiresAt + day };
      const writtenAt = expiresAt + second;
      const later = textAppend(insertion(2, '+', { writtenAt }), { record: again });
      assert.equal((await store.texts.appendText(code, later)).outcome, 'appended');
      assert.deepEqual(await idempotency.find(code, record, writtenAt), requestOf(again));
    });
  });

  it('[IDEM-4] evicts the oldest results of the client with the most when there are too many of all', async (t) => {
    const { store } = await ownStore(t, open);
    const { rooms, idempotency } = store;
    const code = await createRoom(rooms);
    const victim = newRecord();
    await append(store, code, 1, victim);
    const { client } = newRecord();
    const over = (n: number) => ({ client, expiresAt: expiresAt + n, inTotal: 160 });
    const flood = Array.from({ length: 170 }, (_, n) => newRecord(over(n)));
    await Promise.all(flood.map((record, n) => append(store, code, n + 2, record)));
    assert.deepEqual(await idempotency.find(code, victim, start), requestOf(victim), 'a flood evicts only its own');
    const found = await Promise.all(flood.map((record) => idempotency.find(code, record, start)));
    const kept = found.filter(Boolean).length;
    assert.ok(kept < 160, `${kept} are kept`);
    assert.ok(found.slice(-kept).every(Boolean), 'the newest ones');
  });

  it('[IDEM-1] is kept over a restart', async (t) => {
    const under = await ownStore(t, open);
    const code = await createRoom(under.store.rooms);
    const [record, created] = [newRecord(), newRecord()];
    await append(under.store, code, 1, record);
    const room = await createOnce(under.store.rooms, created);
    const { rooms, idempotency } = await under.reopen(start);
    assert.deepEqual(await idempotency.find(code, record, start), requestOf(record));
    assert.equal(await createOnce(rooms, created), room);
  });
}

const countedOne = { files: 1, bytes: 1000 };
