/** A Redis without free memory: it must reject writes and evict nothing, and rooms can still be read and deleted. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, it, type TestContext } from 'node:test';
import { assertError } from '../support/assert-error.ts';
import { joinRoom } from '../support/device.ts';
import { eventually } from '../support/eventually.ts';
import { dataFolder, run, startProcess } from '../support/process.ts';
import { type RedisServer, startRedis, startRedisCluster } from '../support/redis.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const POPROOM_SECRET = 'a secret for the tests of a full Redis';
const evicting = ['--maxmemory', '64mb', '--maxmemory-policy', 'allkeys-lru'];

describe('a Redis that evicts', () => {
  it('[NODE-19] is refused at the start, unless the operator accepts it', async (t) => {
    const redis = await startOwnRedis(t, evicting);
    const settings = { POPROOM_SECRET, POPROOM_STORE: redis.url, POPROOM_DATA_DIR: await dataFolder(t) };
    const { code, stderr } = await run(['serve'], settings);
    assert.equal(code, 1);
    assert.match(stderr, /maxmemory-policy .* is allkeys-lru.* deletes rooms.*noeviction.*POPROOM_ALLOW_EVICTION=true/);

    const server = await startProcess(t, settings.POPROOM_DATA_DIR, { ...settings, POPROOM_ALLOW_EVICTION: 'true' });
    assert.equal((await server.api.get('/readyz')).status, 200);
    await eventually('it warns', () => /"level":"warn".*"policy":"allkeys-lru"/.test(server.output()));
  });

  it('[NODE-19] is refused if it is one server of a cluster', async (t) => {
    const cluster = await startRedisCluster();
    t.after(cluster.stop);
    command(cluster.servers[2] as RedisServer, 'config', 'set', 'maxmemory-policy', 'volatile-ttl');
    const settings = { POPROOM_SECRET, POPROOM_STORE: cluster.url, POPROOM_DATA_DIR: await dataFolder(t) };
    const { code, stderr } = await run(['serve'], settings);
    assert.equal(code, 1);
    assert.match(stderr, /maxmemory-policy .* is volatile-ttl/);
  });

  it('[NODE-19] is reported, and makes the node unready, when its policy changes', async (t) => {
    const redis = await startOwnRedis(t);
    const server = await startServer(t, redis.url);
    const ready = () => server.api.get('/readyz');
    assert.equal((await ready()).status, 200);
    command(redis, 'config', 'set', 'maxmemory-policy', 'allkeys-random');
    const { json } = await eventually('it is unready', async () => {
      const response = await ready();
      return response.status === 503 && response;
    });
    assert.equal(json.checks.store, 'evicting');
    assert.equal((await server.api.get('/api/health')).status, 200);
    const reports = () => linesWith(server, 'error', 'noeviction');
    assert.deepEqual(reports().length, 1);
    command(redis, 'config', 'set', 'maxmemory-policy', 'noeviction');
    await eventually('it is ready again', async () => (await ready()).status === 200);
    assert.deepEqual(reports().length, 1);
  });

  it('[NODE-19] is found without permission for CONFIG, and a policy that stays unknown causes one warning', async (t) => {
    const redis = await startOwnRedis(t, evicting);
    const allow = (...rules: string[]) => command(redis, 'acl', 'setuser', 'node', 'on', '>word', '~*', '&*', ...rules);
    const url = redis.url.replace('//', '//node:word@');
    allow('+@all', '-config');
    await assert.rejects(startServer(t, url), /maxmemory-policy .* is allkeys-lru/);
    allow('-info');
    const server = await startServer(t, url);
    const warnings = () => linesWith(server, 'warn', 'does not reveal its maxmemory-policy');
    await eventually('it warns', () => warnings().length > 0);
    const { requests } = counted(redis);
    await eventually('it has asked again', () => counted(redis).requests >= requests + 2);
    assert.equal(warnings().length, 1);
    assert.equal((await server.api.get('/readyz')).status, 200);
  });
});

describe('a full Redis', () => {
  it('[NODE-20] rejects writes with 507, and rooms can be read, joined and deleted, with all limits', async (t) => {
    const redis = await startOwnRedis(t);
    const server = await startServer(t, redis.url, { POPROOM_FREE_LIMIT: '1000', POPROOM_CLIENT_MAX_BYTES: '0' });
    const { api, clock } = server;
    const [kept, deleted, expiring] = [await api.room(), await api.room({ pin: '0427' }), await api.room()];
    await api.patch(`/api/rooms/${expiring}`, { json: { expiresIn: 60 } });
    const write = (room: string, content: string) => api.post(`/api/rooms/${room}/content`, { json: { content } });
    for (const room of [kept, expiring]) assert.equal((await write(room, 'before')).status, 200);
    const file = await api.upload(kept, 'a.txt', 'bytes');
    command(redis, 'config', 'set', 'maxmemory', '1mb');

    assertError(await api.post('/api/rooms'), 507, 'STORAGE_FULL');
    assertError(await write(kept, 'during'), 507, 'STORAGE_FULL');
    assertError(await api.upload(kept, 'b.txt', 'bytes'), 507, 'STORAGE_FULL');

    // A new client, whose counters do not exist yet.
    const from = '203.0.113.77';
    assert.equal((await api.get(`/api/rooms/${kept}/content`, { from })).json.content, 'before');
    assert.equal((await api.get(`/api/rooms/${kept}/files`, { from })).json.files.length, 1);
    assert.equal(await (await fetch(file.json.fileUrl)).text(), 'bytes');
    assertError(await api.get('/api/rooms/ZZZZZZ', { from }), 404, 'ROOM_NOT_FOUND');
    const guesses = [];
    for (let i = 0; i < 7; i++) guesses.push(await api.get(`/api/rooms/${deleted}`, { from, pin: '1111' }));
    assert.deepEqual(
      guesses.map(({ code }) => code),
      [...Array(5).fill('PIN_INCORRECT'), ...Array(2).fill('PIN_LOCKED')],
    );
    const device = await joinRoom(t, server.url, kept);
    assert.equal((await device.next('snapshot')).content.content, 'before');

    assert.equal((await api.delete(`/api/rooms/${kept}/files/${file.json.fileId}`)).status, 200);
    assert.equal((await api.delete(`/api/rooms/${deleted}`, { pin: '0427' })).status, 200);
    clock.advance(61_000);
    await eventually('the sweep ends a room', () => server.logged().includes('"message":"swept"'));
    assert.ok(!server.logged().includes('sweep failed'));

    command(redis, 'config', 'set', 'maxmemory', '64mb');
    assert.equal((await write(kept, 'after')).status, 200);
  });
});

async function startOwnRedis(t: TestContext, settings: readonly string[] = []): Promise<RedisServer> {
  const redis = await startRedis(settings);
  t.after(redis.stop);
  return redis;
}

const startServer = (t: TestContext, POPROOM_STORE: string, env: Record<string, string> = {}): Promise<TestServer> =>
  startTestServer(t, { POPROOM_SECRET, POPROOM_STORE, ...env }, { evictionCheckMs: 50, sweepEveryMs: 100 });

const command = ({ port }: RedisServer, ...words: string[]): string =>
  execFileSync('redis-cli', ['-p', String(port), ...words], { encoding: 'utf8' });

/** How often the policy was requested in vain. */
const counted = (redis: RedisServer) => ({
  requests: Number(/cmdstat_config\|get:.*rejected_calls=(\d+)/.exec(command(redis, 'info', 'commandstats'))?.[1] ?? 0),
});

function linesWith(server: TestServer, level: string, text: string): string[] {
  return server
    .logged()
    .split('\n')
    .filter((line) => line.includes(`"level":"${level}"`) && line.includes(text));
}
