/** The distributed engine keeps the contract of stores, on one server and on a cluster. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it, type TestContext } from 'node:test';
import { guardRules } from '../../src/core/limits.ts';
import type { RoomStore } from '../../src/core/ports.ts';
import { connectRedis } from '../../src/redis/connection.ts';
import { parseRedisUrl } from '../../src/redis/redis-url.ts';
import { createRedisStore } from '../../src/store/redis/index.ts';
import { type OpenStore, storeContract } from '../contract/store.ts';
import { file, hour, makeRoom, ownStore, quota, start, visit } from '../contract/store-under-test.ts';
import { type RedisCluster, type RedisServer, startRedis, startRedisCluster } from '../support/redis.ts';

describe('on one server', () => {
  let redis: RedisServer;
  before(async () => {
    redis = await startRedis();
  });
  after(() => redis.stop());
  storeContract(
    'redis',
    opener(() => redis.url),
  );

  it('[NODE-14] gives what is in the trash to one node to remove, and to another when that one took too long', async (t) => {
    const { store } = await ownStore(
      t,
      opener(() => redis.url),
    );
    const trash = ['a', 'b', 'c'];
    assert.deepEqual(await store.rooms.claimTrash(trash, start), trash);
    assert.deepEqual(await store.rooms.claimTrash(['c', 'd'], start), ['d']);
    await store.rooms.clearTrash(trash);
    assert.deepEqual(await store.rooms.claimTrash(trash, start), [], 'also from who listed it before it was cleared');
    assert.deepEqual(await store.rooms.claimTrash(trash, start + 60_000), trash);
  });

  it('[LIFE-4] has deleted a room, for good, also when the list of all rooms is out of reach by then', async (t) => {
    const { whole, partial } = await partlyInReach(t, redis);
    const code = await makeRoom(whole, { expiresAt: start + hour });
    assert.deepEqual(await partial.deleteRoom(code, start), { seq: 1 });
    await whole.expireRooms(start + hour, 100);
    assert.equal((await whole.admit(visit(code, { now: start + hour }))).outcome, 'unknown');
  });

  it('[API-8] has removed a file also when its address is out of reach by then', async (t) => {
    const { whole, partial } = await partlyInReach(t, redis);
    const code = await makeRoom(whole);
    const removed = file();
    await whole.addFile(code, removed, quota);
    assert.deepEqual(await partial.removeFile(code, removed.id, start), { seq: 2 });
    assert.equal(await whole.findFile(removed.id, start), undefined);
  });
});

describe('on a cluster', () => {
  let cluster: RedisCluster;
  before(async () => {
    cluster = await startRedisCluster();
  });
  after(() => cluster.stop());
  storeContract(
    'redis cluster',
    opener(() => cluster.url),
  );
});

/** The same rooms from two sides. One reaches what lies with a room alone, as when a part of a cluster is away. */
async function partlyInReach(t: TestContext, { port }: RedisServer): Promise<{ whole: RoomStore; partial: RoomStore }> {
  const rights = ['on', 'nopass', '~*:{?}:*', '~*:{??}:*', '+@all'];
  execFileSync('redis-cli', ['-p', String(port), 'acl', 'setuser', 'partly', ...rights]);
  const prefix = `test-${randomBytes(6).toString('hex')}`;
  const open = async (login: string) => {
    const redis = await connectRedis(parseRedisUrl(`redis://${login}127.0.0.1:${port}`));
    t.after(() => redis.close());
    return createRedisStore(redis, prefix, guardRules(0)).rooms;
  };
  return { whole: await open(''), partial: await open('partly:any@') };
}

/** Each store with names of its own, as several installations would share a Redis. */
function opener(url: () => string): OpenStore {
  return async ({ rules }) => {
    const prefix = `test-${randomBytes(6).toString('hex')}`;
    const open = async () => createRedisStore(await connectRedis(parseRedisUrl(url())), prefix, rules);
    let store = await open();
    return {
      store,
      async reopen() {
        await store.close();
        store = await open();
        return store;
      },
      dispose: () => store.close(),
    };
  };
}
