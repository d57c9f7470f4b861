/** The connection to Redis: commands never wait long, and no reply is lost. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { connectRedis, type Redis } from '../../src/redis/connection.ts';
import { parseRedisUrl } from '../../src/redis/redis-url.ts';
import { eventually } from '../support/eventually.ts';
import { startRedis } from '../support/redis.ts';

const unavailable = { code: 'UNAVAILABLE' };
/** A command times out after little more than a second. A busy machine may take longer. */
const soonMs = 20_000;

describe('a connection to Redis', () => {
  it('[slow] gives up on a silent Redis soon, rejects further commands immediately, and continues when it responds again', async (t) => {
    const { server, redis } = await open(t);
    server.signal('SIGSTOP');
    const since = performance.now();
    await assert.rejects(redis.ping(), unavailable);
    assert.ok(performance.now() - since < soonMs);
    assert.ok(await isRefusedImmediately(redis));
    server.signal('SIGCONT');
    await eventually('it answers again', () => answers(redis));
  });

  it('rejects commands immediately while Redis is unreachable, and continues when it is back', async (t) => {
    const { server, redis } = await open(t);
    server.signal('SIGKILL');
    await eventually('it is noticed', async () => !(await answers(redis)));
    assert.ok(await isRefusedImmediately(redis));
    await server.restart();
    await eventually('it answers again', () => answers(redis));
  });

  it('does not treat replies that it was too busy to read as missing', async (t) => {
    const { redis } = await open(t);
    await redis.ping();
    const asked = [redis.ping(), redis.ping()];
    blockThread(3000);
    await Promise.all(asked);
    await redis.ping();
  });
});

async function open(t: TestContext) {
  const server = await startRedis();
  const redis = await connectRedis(parseRedisUrl(server.url));
  t.after(async () => {
    await redis.close();
    await server.stop();
  });
  return { server, redis };
}

const answers = (redis: Redis) =>
  redis.ping().then(
    () => true,
    () => false,
  );

/** Before the process could receive a response. */
const isRefusedImmediately = (redis: Redis) =>
  Promise.race([assert.rejects(redis.ping(), unavailable).then(() => true), setImmediate(false)]);

/** Like a long computation, but without using a core. */
const blockThread = (ms: number) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
