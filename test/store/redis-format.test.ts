/** The version of the data in Redis: servers with different formats do not use the same data. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { after, before, beforeEach, describe, it, type TestContext } from 'node:test';
import { readConfig } from '../../src/config.ts';
import { openKeys } from '../../src/engine/open.ts';
import { connectRedis } from '../../src/redis/connection.ts';
import { parseRedisUrl } from '../../src/redis/redis-url.ts';
import { joinServers } from '../../src/store/redis/open.ts';
import { eventually } from '../support/eventually.ts';
import { type RedisServer, startRedis } from '../support/redis.ts';
import { startTestServer } from '../support/server.ts';

const [older, newer] = [
  { version: 1, oldestReadable: 1 },
  { version: 2, oldestReadable: 1 },
];

describe('the format of the data in Redis', () => {
  let redis: RedisServer;
  before(async () => {
    redis = await startRedis();
  });
  after(() => redis.stop());
  beforeEach(() => void command('flushall'));

  const command = (...words: string[]) =>
    execFileSync('redis-cli', ['-p', String(redis.port), ...words], { encoding: 'utf8' }).trim();
  const setFormat = (version: string) => command('set', 'pop:{format}', version);
  const settings = () => ({ POPROOM_STORE: redis.url, POPROOM_SECRET: 'a secret for the tests of formats' });
  const startServer = (t: TestContext) => startTestServer(t, settings());

  async function connect(t: TestContext) {
    const connection = await connectRedis(parseRedisUrl(redis.url));
    t.after(connection.close);
    return connection;
  }

  it('[slow] [NODE-22] is stored by the first server, and others with the same format run beside it', async (t) => {
    const one = await startServer(t);
    assert.equal(command('get', 'pop:{format}'), '1');
    const two = await startServer(t);
    const room = await one.api.room();
    assert.equal((await two.api.get(`/api/rooms/${room}`)).status, 200);
    assert.equal(command('zcard', 'pop:{format}:servers'), '2');
    await Promise.all([one.stop(), two.stop()]);
    assert.equal(command('exists', 'pop:{format}:servers'), '0');
  });

  it('[NODE-22] is refused if it is newer, unknown or too old, with what to do', async (t) => {
    for (const [version, problem] of [
      ['2', /format 2 of a newer version of Poproom, and this version uses 1\. Install that version here too/],
      ['0', /format 0 of an earlier version .* upgrade to a version between/],
      ['other', /unknown format "other"\. Check the prefix/],
    ] as const) {
      setFormat(version);
      await assert.rejects(startServer(t), { code: 'UNAVAILABLE', message: problem });
      await assert.rejects(openKeys(readConfig(settings())), { message: problem }, 'for commands too');
      assert.equal(command('get', 'pop:{format}'), version);
      assert.equal(command('exists', 'pop:{format}:servers'), '0');
    }
  });

  it('[NODE-22] is upgraded when no server of the older format runs, and not during a rolling upgrade', async (t) => {
    const leave = await joinServers(await connect(t), 'pop', { format: older });
    const upgraded = await connect(t);
    const join = () => joinServers(upgraded, 'pop', { format: newer });
    await assert.rejects(join, /Servers of an earlier version, with the data format 1, .* Stop all of them/);
    assert.equal(command('get', 'pop:{format}'), '1');
    await leave();
    t.after(await join());
    assert.equal(command('get', 'pop:{format}'), '2');
  });

  it('[NODE-22] changes only when the lease of a server that crashed has ended', async (t) => {
    await joinServers(await connect(t), 'pop', { format: older });
    const upgraded = await connect(t);
    const join = () => joinServers(upgraded, 'pop', { format: newer });
    const leaseMs = Number(command('pttl', 'pop:{format}:servers'));
    assert.ok(leaseMs > 50_000 && leaseMs <= 60_000, `${leaseMs} ms`);
    await assert.rejects(join, /Servers of an earlier version/);
    command('pexpire', 'pop:{format}:servers', '1');
    t.after(await eventually('the lease has ended', () => join().catch(() => false as const)));
  });

  it('[NODE-22] that changes under a running server makes it reject everything', async (t) => {
    const connection = await connect(t);
    t.after(await joinServers(connection, 'pop', { everyMs: 20 }));
    setFormat('2');
    const problem = { code: 'UNAVAILABLE', message: /format 2 of a newer version/ };
    await eventually('it is noticed', () =>
      connection.ping().then(
        () => false,
        () => true,
      ),
    );
    await assert.rejects(connection.ping(), problem);
    await assert.rejects(connection.send('pop:a', ['SET', 'pop:a', '1']), problem);
  });
});
