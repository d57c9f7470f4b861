/** Opens stores on Redis for the contract of stores. */
import { randomBytes } from 'node:crypto';
import { connectRedis } from '../../src/redis/connection.ts';
import { parseRedisUrl } from '../../src/redis/redis-url.ts';
import { createRedisStore } from '../../src/store/redis/open.ts';
import type { OpenStore } from '../contract/store.ts';

/** Each store has its own prefix, as if several installations shared a Redis. */
export function opener(url: () => string): OpenStore {
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
