/** A Redis of another kind than the settings say, or one that accepts no writes. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { after, before, describe, it, type TestContext } from 'node:test';
import { connectRedis } from '../../src/redis/connection.ts';
import { parseRedisUrl } from '../../src/redis/redis-url.ts';
import { joinRoom } from '../support/device.ts';
import { eventually } from '../support/eventually.ts';
import { type RedisServer, startRedis } from '../support/redis.ts';
import { startTestServer } from '../support/server.ts';

describe('the start with a wrong Redis', { concurrency: true }, () => {
  let primary: RedisServer;
  let replica: RedisServer;
  let unassigned: RedisServer;
  let sentinel: RedisServer;
  before(async () => {
    primary = await startRedis();
    [replica, unassigned, sentinel] = await Promise.all([
      startRedis(['--replicaof', '127.0.0.1', String(primary.port)]),
      startRedis(['--cluster-enabled', 'yes', '--cluster-config-file', 'nodes.conf']),
      startRedis(['--sentinel'], [`sentinel monitor main 127.0.0.1 ${primary.port} 1`]),
    ]);
  });
  after(() => Promise.all([primary, replica, unassigned, sentinel].map((server) => server.stop())));

  const assertRefused = (url: string, problem: RegExp) =>
    assert.rejects(
      connectRedis(parseRedisUrl(url)).then((redis) => redis.close()),
      { code: 'UNAVAILABLE', message: problem },
    );

  it('[NODE-21] names a read-only replica', () =>
    assertRefused(replica.url, /Cannot use .* is a read-only replica; name/));

  it('[NODE-21] names a server of a cluster without ?cluster, and a cluster without servers for its slots', async () => {
    await assertRefused(unassigned.url, /is a server of a cluster; add \?cluster/);
    await assertRefused(`${unassigned.url}?cluster`, /the cluster is incomplete.*--cluster create/);
    await assertRefused(`${primary.url}?cluster`, /is not a cluster; remove \?cluster/);
  });

  it('[NODE-21] names a Sentinel without ?sentinel, a server that is none, and an unknown name', async () => {
    await assertRefused(sentinel.url, /is a Sentinel; add \?sentinel=NAME/);
    await assertRefused(`${primary.url}?sentinel=main`, /is not a Sentinel; name the Sentinels, or remove \?sentinel/);
    await assertRefused(`${sentinel.url}?sentinel=other`, /know no primary with the name other/);
  });
});

describe('the log during an outage of Redis', () => {
  const outages: [how: string, begin: (redis: RedisServer) => void, end: (redis: RedisServer) => unknown][] = [
    ['stopped', (redis) => redis.signal('SIGKILL'), (redis) => redis.restart()],
    [
      'read-only',
      ({ port }) => execFileSync('redis-cli', ['-p', String(port), 'replicaof', '127.0.0.1', '1']),
      ({ port }) => execFileSync('redis-cli', ['-p', String(port), 'replicaof', 'no', 'one']),
    ],
  ];

  for (const [how, begin, end] of outages) {
    it(`[OPS-11] has one line when it is ${how}, and none for each room`, async (t) => {
      const redis = await startRedis(['--appendonly', 'yes']);
      t.after(redis.stop);
      const server = await startServer(t, redis);
      const rooms = await Promise.all(Array.from({ length: 4 }, () => server.api.room()));
      for (const room of rooms) await (await joinRoom(t, server.url, room)).next('snapshot');
      const lines = (text: string) =>
        server
          .logged()
          .split('\n')
          .filter((line) => line.includes(text));
      begin(redis);
      await eventually('the loss is logged', () => lines('"message":"store lost"').length > 0);
      assert.equal((await server.api.get('/readyz')).status, 503);
      await eventually('renewals and sweeps have failed', async () => (await failedOperations(server.url)) > 20);
      await end(redis);
      await eventually('the return is logged', () => lines('"message":"store responds again"').length > 0);
      assert.equal(lines('"message":"store lost"').length, 1);
      assert.deepEqual([...lines('could not'), ...lines('sweep failed'), ...lines('    at ')], []);
    });
  }
});

const startServer = (t: TestContext, redis: RedisServer) =>
  startTestServer(
    t,
    { POPROOM_STORE: redis.url, POPROOM_SECRET: 'a secret for the tests of outages', POPROOM_FREE_LIMIT: '0' },
    { heartbeatMs: 250, outageCheckMs: 20, sweepEveryMs: 50 },
  );

async function failedOperations(url: string): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  const counts = [...metrics.matchAll(/^poproom_store_errors_total\{.*\} (\d+)$/gm)].map(([, count]) => Number(count));
  return counts.reduce((sum, count) => sum + count, 0);
}
