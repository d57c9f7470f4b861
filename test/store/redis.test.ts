/** The distributed engine keeps the contract of stores, on one server and on a cluster. */
import { randomBytes } from 'node:crypto';
import { after, before, describe } from 'node:test';
import { connectRedis } from '../../src/redis/connection.ts';
import { parseRedisUrl } from '../../src/redis/redis-url.ts';
import { createRedisStore } from '../../src/store/redis/index.ts';
import { type OpenStore, storeContract } from '../contract/store.ts';
import { type RedisServer, startRedis, startRedisCluster } from '../support/redis.ts';

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
});

describe('on a cluster', () => {
  let cluster: Awaited<ReturnType<typeof startRedisCluster>>;
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
