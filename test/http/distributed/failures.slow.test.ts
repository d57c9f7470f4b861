/** Failures of Redis and S3: they are reported soon, the server continues, and it recovers with them. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { ApiResponse } from '../../support/api.ts';
import { assertError } from '../../support/assert-error.ts';
import { joinRoom } from '../../support/device.ts';
import { eventually } from '../../support/eventually.ts';
import { startFaultyS3 } from '../../support/faulty-s3.ts';
import { startOwnStores } from '../../support/own-stores.ts';
import { requestLines, requestRaw } from '../../support/raw-http.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { unfinishedBlobs } from '../../support/stored-blobs.ts';

/** Writes everything down, so that a restart keeps it. */
const careful = ['--appendonly', 'yes', '--appendfsync', 'always'];

describe('without Redis', () => {
  for (const [how, away, back] of [
    ['has ended', 'SIGKILL', undefined],
    ['hangs', 'SIGSTOP', 'SIGCONT'],
  ] as const) {
    it(`[API-7] [RUN-2] the probes report that it ${how}, and when it has recovered`, async (t) => {
      const { server, redis } = await start(t);
      const { api } = server;
      redis.signal(away);
      await degraded(server);
      // On a slow machine, it has no answer at first.
      const { status, json } = await eventually('the store is failing', async () => {
        const response = await api.get('/readyz');
        return response.json.checks.store === 'failing' && response;
      });
      assert.deepEqual([status, json.checks.files], [503, 'ok']);
      for (const path of ['/livez', '/docs']) assert.equal((await api.get(path)).status, 200, path);
      if (back) redis.signal(back);
      else await redis.restart();
      await eventually('all is well', async () => (await api.get('/readyz')).status === 200);
      assert.equal((await api.get('/api/health')).json.status, 'healthy');
    });

    it(`[ERR-6] every request that needs it returns 503 soon when it ${how}, and the log has the reason`, async (t) => {
      const { server, redis } = await start(t);
      const { api } = server;
      const room = await api.room();
      const { fileUrl } = (await api.upload(room, 'a.txt', 'abc')).json;
      redis.signal(away);
      await degraded(server);
      for (const request of [
        () => api.post('/api/rooms'),
        () => api.get(`/api/rooms/${room}/content`),
        () => api.post(`/api/rooms/${room}/content`, { json: { content: 'x' } }),
        () => api.upload(room, 'b.txt', 'abc'),
        () => api.get(fileUrl),
      ]) {
        const since = performance.now();
        const response = await request();
        assertError(response, 503, 'UNAVAILABLE');
        assert.ok(performance.now() - since < 6000);
        assert.ok(Number(response.headers.get('retry-after')) > 0);
        assertSaysNothing(response);
        assert.ok(errorsIn(server).some((line) => line.includes(response.json.requestId)));
      }
      if (back) redis.signal(back);
      else await redis.restart();
      await eventually('it serves again', async () => (await api.get(fileUrl)).text === 'abc');
      assert.equal((await api.get(`/api/rooms/${room}/content`)).json.content, '');
    });
  }

  it('[LINK-3] preflights are answered, so that pages can read the error of other requests', async (t) => {
    const { server, redis } = await start(t);
    redis.signal('SIGKILL');
    await degraded(server);
    assert.equal((await server.api.call('OPTIONS', '/api/rooms')).status, 204);
    assertError(await server.api.post('/api/rooms'), 503, 'UNAVAILABLE');
  });

  it('[ERR-5] invalid HTTP is rejected as usual', async (t) => {
    const { server, redis } = await start(t);
    redis.signal('SIGKILL');
    await degraded(server);
    for (const bytes of ['hello\r\n\r\n', requestLines('CONNECT example.org:443 HTTP/1.1', 'Host: example.org:443')]) {
      assertError(await requestRaw(t, server.port, bytes), 400, 'VALIDATION_FAILED');
    }
  });

  it('[LIVE-8] a device stays in its room, and receives later changes when Redis has recovered', async (t) => {
    const { server, redis } = await start(t);
    const { api, url } = server;
    const room = await api.room();
    const device = await joinRoom(t, url, room);
    await device.next('snapshot');
    await redis.restart();
    const write = () => api.post(`/api/rooms/${room}/content`, { json: { content: 'afterwards' } });
    await eventually('it can be written again', async () => (await write()).status === 200);
    assert.equal((await device.next('content')).content, 'afterwards');
  });

  it('[RUN-4] the server can be stopped', async (t) => {
    const { server, redis } = await start(t);
    await joinRoom(t, server.url, await server.api.room());
    redis.signal('SIGSTOP');
    const since = performance.now();
    await server.stop();
    assert.ok(performance.now() - since < 10_000);
  });
});

describe('without the S3 store', () => {
  it('[ERR-6] [UP-6] files return 503, nothing remains of an upload, and texts work', async (t) => {
    const { server, s3 } = await start(t);
    const { api } = server;
    const room = await api.room();
    const { fileUrl } = (await api.upload(room, 'a.txt', 'abc')).json;
    await s3.stop();
    for (const response of [await api.upload(room, 'b.txt', 'abc'), await api.get(fileUrl)]) {
      assertError(response, 503, 'UNAVAILABLE');
      assertSaysNothing(response);
      const line = errorsIn(server).find((logged) => logged.includes(response.json.requestId));
      assert.match(line ?? 'nothing', /ECONNREFUSED/);
    }
    assert.deepEqual(await unfinishedBlobs(server), []);
    assert.equal((await api.get(`/api/rooms/${room}/files`)).json.files.length, 1);
    assert.equal((await api.post(`/api/rooms/${room}/content`, { json: { content: 'x' } })).status, 200);
    await degraded(server);
  });
});

describe('a slow S3 store', () => {
  it('[API-7] is asked once for all concurrent health requests', async (t) => {
    let asked = 0;
    const endpoint = await startFaultyS3(t, (_, response) => {
      asked += 1;
      setTimeout(() => response.end(), 500);
    });
    const { settings, stop } = await startOwnStores();
    const { api } = await startTestServer(t, { ...settings, POPROOM_S3_ENDPOINT: endpoint });
    t.after(stop);
    const responses = await Promise.all(Array.from({ length: 25 }, () => api.get('/api/health')));
    for (const { json } of responses) assert.equal(json.status, 'healthy');
    assert.ok(asked < 10, `it was asked ${asked} times`);
  });
});

async function start(t: TestContext) {
  const { redis, s3, settings, stop } = await startOwnStores(careful);
  // A limit, so that the counters are needed too.
  const server = await startTestServer(t, { ...settings, POPROOM_FREE_LIMIT: '100000' });
  t.after(stop);
  return { server, redis, s3 };
}

async function degraded({ api }: TestServer): Promise<void> {
  await eventually('health is degraded', async () => {
    const { status, json } = await api.get('/api/health');
    return status === 503 && json.status === 'degraded';
  });
}

function assertSaysNothing({ text, headers }: ApiResponse): void {
  const said = text + JSON.stringify([...headers]);
  for (const inside of ['redis', 'Redis', 'ECONNREFUSED', 'ocket', 'bucket', '   at ', '.ts', 'Error:']) {
    assert.ok(!said.includes(inside), `${inside} is said in ${said}`);
  }
}

function errorsIn({ logged }: TestServer): string[] {
  return logged()
    .split('\n')
    .filter((line) => line.includes('"level":"error"'));
}
