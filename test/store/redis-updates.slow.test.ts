/** Changes of a room on the distributed engine: the lifetime of all its keys, and what a crash leaves. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { guardRules } from '../../src/core/limits.ts';
import type { Store } from '../../src/core/ports/store.ts';
import type { RoomCode } from '../../src/core/room-code.ts';
import type { Redis } from '../../src/redis/connection.ts';
import { createKeys } from '../../src/store/redis/keys.ts';
import { createRedisStore } from '../../src/store/redis/open.ts';
import {
  accessAttempt,
  checkpoint,
  createRoom,
  day,
  file,
  hour,
  keepCheckpoint,
  mac,
  quota,
  roomUpdate,
  start,
  unfinishedFile,
  writeText,
} from '../contract/store-under-test.ts';
import { type RedisServer, startRedis } from '../support/redis.ts';
import { crashingStores, observed } from './observed-redis.ts';

const owner = { client: 'c'.repeat(12), network: 'd'.repeat(12) };
const unlimited = { client: 10_000, network: 10_000, total: 10_000 };
const right = mac('0427');

describe('a changed room in Redis', () => {
  let server: RedisServer;
  before(async () => {
    server = await startRedis();
  });
  after(() => server.stop());

  it('[CHANGE-2] has keys that last at least as long as the extended room', async (t) => {
    const { redis, prefix, store } = await open(t, server);
    const { code, kept, removed } = await filledRoom(store, { expiresAt: start + hour });
    await store.rooms.updateRoom(code, roomUpdate({ expiresAt: start + 100 * day, admittedBy: right }), start);
    const keys = createKeys(prefix);
    const { room, guard, trusted, edits, history, historyTexts } = keys.ofRoom(code);
    const indexes = [kept.id, removed.id].map(keys.roomOfFile);
    const accounts = [owner.client, owner.network].flatMap(keys.usage);
    for (const key of [room, guard, trusted, edits, history, historyTexts, ...indexes, ...accounts]) {
      const leftMs = Number(await redis.send(key, ['PTTL', key]));
      // The test has taken a while since `start`.
      assert.ok(leftMs > 100 * day - hour, `${key} is kept for ${leftMs} ms`);
    }
    await store.rooms.updateRoom(code, roomUpdate({ expiresAt: start + hour, admittedBy: right }), start);
    const leftMs = Number(await redis.send(room, ['PTTL', room]));
    assert.ok(leftMs < 9 * day, `a shortened room is kept for ${leftMs} ms`);
  });

  for (const [name, expiresAt] of [
    ['an extension', start + 100 * day],
    ['a shortening', start + hour],
  ] as const) {
    it(`[CHANGE-2] [CHANGE-5] keeps its data and is swept in time after a crash at any step of ${name}`, async (t) => {
      const { redis, prefix, store } = await open(t, server);
      const untilCrash = crashingStores(redis, prefix);
      const keys = createKeys(prefix);
      for (let commands = 0, isDone = false; !isDone; commands++) {
        const filled = await filledRoom(store, { expiresAt: start + day });
        const { code, kept } = filled;
        const change = roomUpdate({ expiresAt, admittedBy: right });
        isDone = await untilCrash(commands)
          .rooms.updateRoom(code, change, start)
          .then(() => true)
          .catch(() => false);
        const end = await expiryOf(store, code);
        assert.ok(isDone ? end === expiresAt : [start + day, expiresAt].includes(end));
        const index = keys.roomOfFile(kept.id);
        assert.ok(Number(await redis.send(index, ['PTTL', index])) > end - start);
        assert.ok((await chargeEnd(redis, keys.usage(owner.client), kept.blob)) >= end + 7 * day);
        // Twice: a sweep that comes too early must not take the room off the list.
        for (const now of [start + hour - 1, end - 1, end - 1]) {
          assert.deepEqual(await store.rooms.expireRooms(now, 10), [], `after ${commands} commands`);
        }
        assert.deepEqual(await store.rooms.expireRooms(end, 10), [code], `after ${commands} commands`);
        await store.trash.clearTrash(await store.trash.listTrash(10));
        await store.storage.releaseAbandoned(start);
        assert.equal(await store.storage.usageOf(owner.client), 0, `after ${commands} commands`);
      }
    });
  }

  it('[CHANGE-2] charges a file and a text that are added during an extension as long as the room lasts', async (t) => {
    const { redis, prefix, store } = await open(t, server);
    const code = await createRoom(store.rooms, { expiresAt: start + hour, owner, countsText: true });
    const keys = createKeys(prefix);
    const { room } = keys.ofRoom(code);
    const extend = () => store.rooms.updateRoom(code, roomUpdate({ expiresAt: start + 100 * day }), start);
    let isExtended = false;
    /** Extends the room after the store has read its expiry, and before it uses it. */
    const run: Redis['run'] = async (script, names, args) => {
      const isCharge = names[0] === keys.usage(owner.client)[0];
      if (isCharge && !isExtended) {
        isExtended = true;
        await extend();
      }
      return redis.run(script, names, args);
    };
    const slow = createRedisStore({ ...redis, run }, prefix, guardRules(0));
    const added = file({ owner });
    await slow.files.addFile(code, added, quota);
    const ends = () =>
      Promise.all([added.blob, `text:${code}`].map((b) => chargeEnd(redis, keys.usage(owner.client), b)));
    assert.equal((await ends())[0], start + 108 * day);
    const index = keys.roomOfFile(added.id);
    assert.ok(Number(await redis.send(index, ['PTTL', index])) > 100 * day - hour);

    await redis.send(room, ['HSET', room, 'expiresAt', String(start + hour)]);
    isExtended = false;
    await slow.storage.chargeText({ code, owner, bytes: 300 }, unlimited, start);
    assert.deepEqual(await ends(), [start + 108 * day, start + 108 * day]);
  });
});

async function open(t: Parameters<typeof observed>[0], server: RedisServer) {
  const { redis, prefix } = await observed(t, server);
  return { redis, prefix, store: createRedisStore(redis, prefix, guardRules(0)) };
}

/** A room with something under each of its keys. */
async function filledRoom(store: Store, { expiresAt }: { expiresAt: number }) {
  const code = await createRoom(store.rooms, { expiresAt, pinMac: right, owner, countsText: true });
  await writeText(store.texts, code, 'text');
  await keepCheckpoint(store.texts, code, checkpoint(1, 'text'));
  const [kept, removed] = [file({ owner }), file({ owner })];
  for (const added of [kept, removed]) await store.files.addFile(code, added, quota);
  await store.files.removeFile(code, removed.id, start);
  await store.uploads.startUpload(code, unfinishedFile({ owner, expiresAt }), quota);
  await store.storage.chargeText({ code, owner, bytes: 300 }, unlimited, start);
  await store.rooms.admit(accessAttempt(code, { pinMac: mac('9999') }));
  return { code, kept, removed };
}

async function expiryOf({ rooms }: Store, code: RoomCode): Promise<number> {
  const state = await rooms.readState(code, start);
  return typeof state === 'object' ? state.room.expiresAt : 0;
}

async function chargeEnd(redis: Redis, [, ends = '']: string[], blob: string): Promise<number> {
  return Number(await redis.send(ends, ['ZSCORE', ends, blob]));
}
