/** The distributed engine passes the contract of stores on a cluster, too. */
import { after, before, describe } from 'node:test';
import { storeContract } from '../contract/store.ts';
import { type RedisCluster, startRedisCluster } from '../support/redis.ts';
import { opener } from './open-redis.ts';

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
