/** The distributed engine keeps the contract of stores, on one server and on a cluster. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { connectRedis } from '../../src/redis/connection.ts';
import { parseRedisUrl } from '../../src/redis/redis-url.ts';
import { createRedisStore } from '../../src/store/redis/index.ts';
import { type OpenStore, storeContract } from '../contract/store.ts';
import { ownStore, start } from '../contract/store-under-test.ts';
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
