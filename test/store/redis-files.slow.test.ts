/** Files and their bytes on the distributed engine, and what a crash leaves of them. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { guardRules } from '../../src/core/limits.ts';
import { type UnfinishedFile, unfinishedName } from '../../src/core/ports/files.ts';
import type { Store } from '../../src/core/ports/store.ts';
import type { RoomCode } from '../../src/core/room-code.ts';
import type { Redis } from '../../src/redis/connection.ts';
import { createKeys } from '../../src/store/redis/keys.ts';
import { createRedisStore } from '../../src/store/redis/open.ts';
import { countedFiles, createRoom, file, hour, quota, start, unfinishedFile } from '../contract/store-under-test.ts';
import { type RedisServer, startRedis } from '../support/redis.ts';
import { crashingStores, observed } from './observed-redis.ts';

type FileStep = (store: Store, code: RoomCode, upload: UnfinishedFile) => Promise<unknown>;

const add: FileStep = (store, code, { received, state, expiresAt, ...added }) =>
  store.files.addFile(code, added, quota);
const startUpload: FileStep = (store, code, upload) => store.uploads.startUpload(code, upload, quota);
const advance: FileStep = (store, code, { id }) =>
  store.uploads.advanceUpload(code, id, 0, { received: 40, state: 'state' }, start);
const finish: FileStep = (store, code, { id }) => store.uploads.finishUpload(code, id, start);
const cancel: FileStep = (store, code, { id }) => store.uploads.cancelUpload(code, id, start);
const expire: FileStep = (store) => store.uploads.expireUploads(start + hour, 10);
const remove: FileStep = (store, code, { id }) => store.files.removeFile(code, id, start);
const restore: FileStep = (store, code, { id }) => store.files.restoreFile(code, id, start);
const erase: FileStep = (store) => store.files.eraseRemoved(start + 1, 10);
const eraseInRoom: FileStep = (store, code) => store.files.eraseRemovedIn(code);
const claim: FileStep = (store, code, { id }) =>
  store.files.claimFile(code, id, { hash: 'c0ffee', expiresAt: start + hour }, start);
const receive: FileStep = (store, code) => store.files.receiveFile(code, 'c0ffee', start);
const emptyTrash: FileStep = async (store) => store.trash.clearTrash(await store.trash.listTrash(10));

/** The steps that a file can go through after its reservation. */
const fileLives: Record<string, FileStep[]> = {
  'an upload or a removal': [add, remove, restore, remove, erase, emptyTrash],
  'an upload in several requests': [startUpload, advance, finish, remove, eraseInRoom, emptyTrash],
  'an upload that is cancelled': [startUpload, advance, cancel, emptyTrash],
  'an upload that expires': [startUpload, expire, emptyTrash],
  'the receipt of a one-time file': [add, claim, receive, emptyTrash],
  'the receipt of a one-time file that was removed': [add, claim, remove, receive, emptyTrash],
};

describe('stored bytes in Redis', () => {
  let server: RedisServer;
  before(async () => {
    server = await startRedis();
  });
  after(() => server.stop());

  const unlimited = { client: 1000, network: 1000, total: 1000 };
  const owner = { client: 'c'.repeat(12), network: 'd'.repeat(12) };
  const request = (blob: string) => ({
    ...{ blob, owner, expiresAt: start + hour, deadline: start + hour / 4 },
    ...{ least: 100, most: 100 },
  });

  it('[ONCE-8] include one claim for each file, and none of files that were erased', async (t) => {
    const { redis, prefix } = await observed(t, server);
    const store = createRedisStore(redis, prefix, guardRules(0));
    const { rooms } = store;
    const code = await createRoom(rooms);
    const { claims } = createKeys(prefix).ofRoom(code);
    for (let round = 0; round < 20; round++) {
      const added = file({ once: true });
      await store.files.addFile(code, added, quota);
      await store.files.claimFile(code, added.id, { hash: `${round}`, expiresAt: start + hour }, start);
      assert.equal(await redis.send(claims, ['HLEN', claims]), 1);
      await store.files.removeFile(code, added.id, start);
      await store.files.eraseRemovedIn(code);
    }
  });

  for (const [name, steps] of Object.entries(fileLives)) {
    it(`[NODE-18] are correct again after a crash at any step of ${name}`, async (t) => {
      const { redis, prefix } = await observed(t, server);
      const whole = createRedisStore(redis, prefix, guardRules(0));
      const untilCrash = crashingStores(redis, prefix);
      const accounts = async () => [
        await whole.storage.usageOf(owner.client),
        await whole.storage.usageOf(owner.network),
      ];
      for (let commands = 0, isDone = false; !isDone; commands++) {
        const code = await createRoom(whole.rooms);
        const upload = unfinishedFile({ owner, size: 40, once: true, expiresAt: start + hour });
        const crashing = untilCrash(commands);
        const live = async () => {
          await crashing.storage.reserve(request(upload.blob), unlimited, start);
          for (const step of steps) await step(crashing, code, upload);
          return true;
        };
        isDone = await live().catch(() => false);
        await whole.storage.releaseAbandoned(start + hour / 4);
        const { files, bytes } = await countedFiles(whole.rooms, code);
        const isInTrash = (await whole.trash.listTrash(10)).length > 0;
        assert.equal(bytes, 40 * files, `after ${commands} commands`);
        assert.deepEqual(await whole.storage.usage(), { stored: bytes, reserved: 0 }, `after ${commands} commands`);
        if (!isInTrash) assert.deepEqual(await accounts(), [bytes, bytes], `after ${commands} commands`);
        const known = await whole.trash.knownBlobs([upload.blob, unfinishedName(upload.blob)]);
        assert.equal(known.size > 0, files > 0 || isInTrash, `after ${commands} commands`);
        await whole.rooms.deleteRoom(code, start);
        await whole.trash.clearTrash(await whole.trash.listTrash(10));
        assert.deepEqual(await accounts(), [0, 0], `when all is removed, after ${commands} commands`);
        assert.deepEqual(await whole.storage.usage(), { stored: 0, reserved: 0 });
      }
    });
  }

  it('[NODE-18] are correct again after a crash at any step of a text that grows and is deleted', async (t) => {
    const { redis, prefix } = await observed(t, server);
    const whole = createRedisStore(redis, prefix, guardRules(0));
    const untilCrash = crashingStores(redis, prefix);
    for (let commands = 0, isDone = false; !isDone; commands++) {
      const code = await createRoom(whole.rooms, { owner, countsText: true });
      const { storage, rooms } = untilCrash(commands);
      const growAndDelete = async () => {
        await storage.chargeText({ code, owner, bytes: 300 }, unlimited, start);
        await rooms.deleteRoom(code, start);
        return true;
      };
      isDone = await growAndDelete().catch(() => false);
      await whole.rooms.deleteRoom(code, start);
      await whole.storage.releaseAbandoned(start);
      const used = [await whole.storage.usageOf(owner.client), await whole.storage.usageOf(owner.network)];
      assert.deepEqual(used, [0, 0], `after ${commands} commands`);
    }
  });

  it('[LIFE-4] leave no key behind when everything is removed', async (t) => {
    const { redis, prefix } = await observed(t, server);
    const store = createRedisStore(redis, prefix, guardRules(0));
    const { rooms, storage } = store;
    const [code, expiring] = [await createRoom(rooms), await createRoom(rooms, { expiresAt: start + hour })];
    for (const room of [code, expiring]) {
      const files = [file({ owner, size: 40 }), file({ owner, size: 40 })];
      for (const added of files) await storage.reserve(request(added.blob), unlimited, start);
      for (const added of files) await store.files.addFile(room, added, quota);
      await store.files.removeFile(room, files[0]?.id ?? '', start);
      await store.uploads.startUpload(room, unfinishedFile({ owner, size: 40, state: 'state' }), quota);
    }
    await rooms.deleteRoom(code, start);
    await rooms.expireRooms(start + hour, 10);
    await store.trash.clearTrash(await store.trash.listTrash(10));
    const left = (await redis.send('', ['KEYS', `${prefix}:*`])) as string[];
    assert.deepEqual(
      left.filter((key) => !key.endsWith(':stored-bytes')),
      [createKeys(prefix).ofRoom(expiring).room],
    );
  });

  it('[NODE-23] of many rooms that end together are removed without a long queue of commands', async (t) => {
    const store = await observed(t, server);
    const { redis, rooms } = store;
    const ending = 200;
    await Promise.all(Array.from({ length: ending }, () => createRoom(rooms, { expiresAt: start + hour })));
    let [longest, isDone] = [0, false];
    const watch = () => {
      longest = Math.max(longest, redis.queueLength());
      if (!isDone) setImmediate(watch);
    };
    watch();
    assert.equal((await rooms.expireRooms(start + hour, 500)).length, ending);
    isDone = true;
    assert.ok(longest > 0 && longest <= 20, `${longest} commands`);
  });

  it('[TUS-6] [UNDO-2] leave no key of a file behind in a room that goes on', async (t) => {
    const { redis, prefix } = await observed(t, server);
    const store = createRedisStore(redis, prefix, guardRules(0));
    const { rooms } = store;
    const code = await createRoom(rooms);
    const keysNow = async () => ((await redis.send('', ['KEYS', `${prefix}:*`])) as string[]).sort();
    const before = await keysNow();
    const finish = async (upload: UnfinishedFile) => {
      await store.uploads.startUpload(code, upload, quota);
      await store.uploads.finishUpload(code, upload.id, start);
      await store.files.removeFile(code, upload.id, start);
    };
    const [cancelled, expired] = [unfinishedFile({ owner }), unfinishedFile({ owner, expiresAt: start })];
    await store.uploads.startUpload(code, cancelled, quota);
    await store.uploads.cancelUpload(code, cancelled.id, start);
    await store.uploads.startUpload(code, expired, quota);
    assert.equal(await store.uploads.expireUploads(start, 10), 1);
    await finish(unfinishedFile({ owner, received: 1000 }));
    assert.equal(await store.files.eraseRemovedIn(code), 1);
    await finish(unfinishedFile({ owner, received: 1000 }));
    assert.equal(await store.files.eraseRemoved(start + 1, 10), 1);
    await store.trash.clearTrash(await store.trash.listTrash(10));
    assert.deepEqual(
      (await keysNow()).filter((key) => !key.endsWith(':stored-bytes')),
      before,
    );
  });

  it('[TUS-7] [UNDO-2] do not include files of a room that Redis has removed', async (t) => {
    const { redis, prefix, keysOf } = await observed(t, server);
    const store = createRedisStore(redis, prefix, guardRules(0));
    const { rooms, storage } = store;
    const code = await createRoom(rooms);
    const [removed, upload] = [file({ owner }), unfinishedFile({ owner })];
    await store.files.addFile(code, removed, quota);
    await store.files.removeFile(code, removed.id, start);
    await store.uploads.startUpload(code, upload, quota);
    const { room } = keysOf(code);
    await redis.send(room, ['DEL', room]);
    assert.equal(await store.files.eraseRemoved(start + 1, 10), 1);
    assert.equal(await store.uploads.expireUploads(upload.expiresAt, 10), 1);
    assert.equal(await redis.send(room, ['EXISTS', room]), 0);
    assert.deepEqual(new Set(await store.trash.listTrash(10)), new Set([removed.blob, unfinishedName(upload.blob)]));
    assert.equal((await storage.usage()).stored, 0);
  });

  it('[UNDO-2] keep a file that was restored, and removed again, while a sweep was erasing it', async (t) => {
    const store = await observed(t, server);
    const { redis, rooms, prefix, keysOf } = store;
    const code = await createRoom(rooms);
    const [restored, removedAgain] = [file(), file()];
    for (const { id } of [restored, removedAgain]) await store.files.addFile(code, file({ id }), quota);
    for (const { id } of [restored, removedAgain]) await store.files.removeFile(code, id, start);
    const send: Redis['send'] = async (key, command) => {
      const reply = await redis.send(key, command);
      if (key !== keysOf(code).removals || command[0] !== 'ZRANGEBYSCORE') return reply;
      for (const { id } of [restored, removedAgain]) await store.files.restoreFile(code, id, start);
      await store.files.removeFile(code, removedAgain.id, start + 2);
      return reply;
    };
    const sweeping = createRedisStore({ ...redis, send }, prefix, guardRules(0)).files;
    assert.equal(await sweeping.eraseRemoved(start + 1, 10), 0);
    assert.ok(await store.files.findFile(restored.id, start));
    assert.ok(typeof (await store.files.restoreFile(code, removedAgain.id, start)) === 'object');
    const { removals } = keysOf(code);
    assert.equal(await redis.send(removals, ['EXISTS', removals]), 0);
  });

  it('[TUS-4] are listed without the states of uploads', async (t) => {
    const store = await observed(t, server);
    const { rooms, traffic } = store;
    const code = await createRoom(rooms);
    const upload = unfinishedFile();
    await store.uploads.startUpload(code, upload, quota);
    await store.uploads.advanceUpload(code, upload.id, 0, { received: 1, state: 's'.repeat(50_000) }, start);
    traffic.length = 0;
    await store.files.listFiles(code, start);
    await rooms.readState(code, start);
    assert.equal(traffic.length, 2);
    assert.ok(Math.max(...traffic) < 1024, `characters sent and received: ${traffic}`);
  });

  it('[UP-11] do not include a file of a version before the quotas, neither while it exists nor when it is removed', async (t) => {
    const { redis, prefix, keysOf } = await observed(t, server);
    const store = createRedisStore(redis, prefix, guardRules(0));
    const { rooms, storage } = store;
    const code = await createRoom(rooms);
    const { owner: _owner, folder: _folder, deviceId: _deviceId, ...older } = file({ size: 40 });
    const { room, files, blobs } = keysOf(code);
    await redis.send(files, ['HSET', files, older.id, `1:${JSON.stringify(older)}`]);
    await redis.send(blobs, ['SADD', blobs, older.blob]);
    await redis.send(room, ['HSET', room, 'fileCount', '1', 'fileBytes', '40']);
    assert.deepEqual(await store.files.listFiles(code, start), [file({ ...older })]);
    assert.deepEqual(await store.files.removeFile(code, older.id, start), { seq: 1 });
    assert.equal(await store.files.eraseRemovedIn(code), 1);
    assert.deepEqual(await store.trash.listTrash(10), [older.blob]);
    assert.deepEqual(await storage.usage(), { stored: 0, reserved: 0 });
  });
});
