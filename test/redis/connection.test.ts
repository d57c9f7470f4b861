/** The connection to Redis: commands never wait long, and no reply is lost. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { connectRedis, type Redis } from '../../src/redis/connection.ts';
import { parseRedisUrl } from '../../src/redis/redis-url.ts';
import { eventually } from '../support/eventually.ts';
import { startRedis } from '../support/redis.ts';

const unavailable = { code: 'UNAVAILABLE' };

describe('a connection to Redis', { timeout: 30_000 }, () => {
  it('gives up on a silent Redis soon, rejects further commands immediately, and continues when it responds again', async (t) => {
    const { server, redis } = await open(t);
    server.signal('SIGSTOP');
    assert.ok((await msUntilRefused(redis.ping())) < 3000);
    assert.ok((await msUntilRefused(redis.ping())) < 500);
    server.signal('SIGCONT');
    await eventually('it answers again', () => answers(redis));
  });

  it('rejects commands immediately while Redis is unreachable, and continues when it is back', async (t) => {
    const { server, redis } = await open(t);
    server.signal('SIGKILL');
    await eventually('it is noticed', async () => !(await answers(redis)));
    assert.ok((await msUntilRefused(redis.ping())) < 500);
    await server.restart();
    await eventually('it answers again', () => answers(redis));
  });

  it('does not treat replies that it was too busy to read as missing', async (t) => {
    const { redis } = await open(t);
    await redis.ping();
    const asked = [redis.ping(), redis.ping()];
    const until = performance.now() + 3000;
    while (performance.now() < until);
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

async function msUntilRefused(answer: Promise<unknown>): Promise<number> {
  const since = performance.now();
  await assert.rejects(answer, unavailable);
  return performance.now() - since;
}
