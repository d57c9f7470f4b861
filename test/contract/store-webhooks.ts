/** The webhooks of rooms: one document each, found again when it is due, and taken when the room has ended. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createRoom, hour, type OpenStore, ownStore, sharedStore, start, writeText } from './store-under-test.ts';

const never = Number.MAX_SAFE_INTEGER;
const many = 1000;

export function webhookTests(open: OpenStore): void {
  const store = sharedStore(open);

  it('[HOOK-7] stores a document only over the revision before', async () => {
    const code = await createRoom(store.rooms);
    const first = { document: 'one', revision: 1, seq: 0, dueAt: never };
    assert.equal(await store.webhooks.read(code, start), undefined);
    assert.equal(await store.webhooks.write(code, first, many, start), 'stored');
    assert.deepEqual(await store.webhooks.read(code, start), first);
    assert.equal(await store.webhooks.write(code, { ...first, document: 'other' }, many, start), 'stale');
    const second = { document: 'two: ü', revision: 2, seq: 3, dueAt: 5 };
    assert.equal(await store.webhooks.write(code, second, many, start), 'stored');
    assert.deepEqual(await store.webhooks.read(code, start), second);
    assert.equal(await store.webhooks.write(code, { revision: 3, seq: 3, dueAt: 5 }, many, start), 'stored');
    assert.equal(await store.webhooks.read(code, start), undefined);
    assert.equal(await store.webhooks.write(code, first, many, start + 48 * hour), 'gone');
  });

  it('[HOOK-7] finds rooms that have changed or are due, and those that have ended', async (t) => {
    const { store } = await ownStore(t, open);
    const write = async (over: { seq?: number; dueAt?: number; expiresAt?: number } = {}) => {
      const { expiresAt = start + hour, ...rest } = over;
      const code = await createRoom(store.rooms, { expiresAt });
      await store.webhooks.write(code, { document: 'x', revision: 1, seq: 0, dueAt: never, ...rest }, many, start);
      return code;
    };
    const [quiet, changed, deleted] = [await write(), await write(), await write()];
    const [due, expired] = [await write({ dueAt: start + 1 }), await write({ expiresAt: start + 2 })];
    await writeText(store.texts, changed, 'text');
    await store.rooms.deleteRoom(deleted, start);
    const scan = await store.webhooks.scan(start + 2);
    assert.deepEqual(new Set(scan.all), new Set([quiet, changed, due, deleted, expired]));
    assert.deepEqual(new Set(scan.due), new Set([changed, due]));
    assert.deepEqual(new Set(scan.ended), new Set([deleted, expired]));
    assert.equal(await store.webhooks.takeEnded(quiet, start + 2), undefined);
    for (const code of [deleted, expired]) {
      assert.equal(await store.webhooks.takeEnded(code, start + 2), 'x');
      assert.equal(await store.webhooks.takeEnded(code, start + 2), undefined);
    }
    assert.deepEqual((await store.webhooks.scan(start + 2)).ended, []);
  });

  it('[HOOK-9] accepts documents of a limited number of rooms', async (t) => {
    const { store } = await ownStore(t, open);
    const codes = await Promise.all(Array.from({ length: 40 }, () => createRoom(store.rooms)));
    const outcomes = [];
    for (const code of codes)
      outcomes.push(await store.webhooks.write(code, { document: 'x', revision: 1, seq: 0, dueAt: 0 }, 16, start));
    const stored = outcomes.filter((outcome) => outcome === 'stored').length;
    assert.ok(stored > 0 && stored <= 16 && outcomes.includes('full'), String(stored));
  });

  it('[HOOK-10] [MOVE-1] is part of a room that is moved', async () => {
    const code = await createRoom(store.rooms);
    const webhooks = { document: 'sealed', revision: 1, seq: 0, dueAt: 7 };
    await store.webhooks.write(code, webhooks, many, start);
    const record = await store.archive.readRoom(code, start);
    assert.deepEqual(record?.webhooks, webhooks);
    await store.rooms.deleteRoom(code, start);
    await store.webhooks.takeEnded(code, start);
    assert.ok(record);
    assert.equal(await store.archive.restoreRoom(record, start), 'restored');
    assert.deepEqual(await store.webhooks.read(code, start), webhooks);
  });
}
