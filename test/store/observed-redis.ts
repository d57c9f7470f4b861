/** A store on Redis for one test, whose commands can be seen. */
import { randomBytes } from 'node:crypto';
import type { TestContext } from 'node:test';
import { PoproomError } from '../../src/core/errors.ts';
import { guardRules } from '../../src/core/limits.ts';
import type { GuardRules } from '../../src/core/ports/rooms.ts';
import type { Store } from '../../src/core/ports/store.ts';
import { connectRedis, type Redis } from '../../src/redis/connection.ts';
import { parseRedisUrl } from '../../src/redis/redis-url.ts';
import { createKeys } from '../../src/store/redis/keys.ts';
import { createRedisStore } from '../../src/store/redis/open.ts';
import type { RedisServer } from '../support/redis.ts';

/** A store with the connection that it uses, and how much each script sends and receives. */
export async function observed(t: TestContext, { url }: RedisServer, rules: GuardRules = guardRules(0)) {
  const redis = await connectRedis(parseRedisUrl(url));
  const prefix = `test-${randomBytes(6).toString('hex')}`;
  const traffic: number[] = [];
  const run: Redis['run'] = async (script, keys, args) => {
    const reply = await redis.run(script, keys, args);
    traffic.push(JSON.stringify([keys, args, reply]).length);
    return reply;
  };
  const store = createRedisStore({ ...redis, run }, prefix, rules);
  t.after(() => store.close());
  return { ...store, redis, prefix, traffic, keysOf: createKeys(prefix).ofRoom };
}

/** Stores that send a number of commands and then none, like a node that crashes. */
export function crashingStores(redis: Redis, prefix: string) {
  return (commands: number): Store => {
    let left = commands;
    const allow = () => {
      left -= 1;
      if (left < 0) throw new PoproomError('UNAVAILABLE', 'The node has crashed.');
    };
    const run: Redis['run'] = async (...call) => {
      allow();
      return redis.run(...call);
    };
    const send: Redis['send'] = async (...call) => {
      allow();
      return redis.send(...call);
    };
    return createRedisStore({ ...redis, run, send }, prefix, guardRules(0));
  };
}
