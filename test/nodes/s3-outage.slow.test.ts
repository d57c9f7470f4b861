/** S3 outages: operations that need no bytes work, and the others report the outage. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { assertError } from '../support/assert-error.ts';
import { joinRoom } from '../support/device.ts';
import { eventually } from '../support/eventually.ts';
import { askWithoutStores } from '../support/load.ts';
import { installationSettings, startTwoNodes, withoutLimits } from '../support/nodes.ts';
import { createSuiteCleanup, type ServerProcess } from '../support/process.ts';
import { type RedisServer, startRedis } from '../support/redis.ts';
import { startS3, type TestS3 } from '../support/s3.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';

const nothingListens = 1;
const [refusedWithinMs, uploadRefusedWithinMs] = [4_000, 8_000];

describe('an S3 outage', () => {
  let redis: RedisServer;
  let s3: TestS3;
  let port: number;
  let proxy: TcpProxy;
  let nodes: [ServerProcess, ServerProcess];
  const suite = createSuiteCleanup();
  before(async () => {
    [redis, s3] = await Promise.all([startRedis(), startS3()]);
    port = s3.port;
    proxy = await startTcpProxy(suite, () => port);
    const settings = installationSettings({ redis, s3: { ...s3, endpoint: proxy.url } }, withoutLimits);
    nodes = await startTwoNodes(suite, settings);
  });
  after(async () => {
    await suite.end();
    await Promise.all([redis.stop(), s3.stop()]);
  });

  it('[NODE-13] does not affect text, lists and deletions, rejects uploads, and needs no restart', async (t) => {
    const [one, two] = nodes;
    const [room, doomed] = [await one.api.room(), await one.api.room()];
    const { fileUrl } = (await one.api.upload(room, 'a.txt', 'abc')).json;
    await one.api.upload(doomed, 'b.txt', 'abc');
    const device = await joinRoom(t, two.url, room);
    await device.next('snapshot');

    port = nothingListens;
    proxy.disconnect();
    const control = askWithoutStores(nodes);
    for (const { api } of nodes) {
      const since = performance.now();
      const refused = await api.upload(room, 'c.txt', 'abc');
      assertError(refused, 503, 'UNAVAILABLE');
      assert.match(refused.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
      assertError(await api.get(new URL(fileUrl).pathname), 503, 'UNAVAILABLE');
      const took = performance.now() - since;
      assert.ok(took < refusedWithinMs + 3 * control.slowest(), `they were refused after ${took} ms`);
      const content = `text by ${api === one.api ? 'one' : 'two'}`;
      assert.equal((await api.post(`/api/rooms/${room}/content`, { json: { content } })).status, 200);
      assert.equal((await device.next('content')).content, content);
      const { files } = (await api.get(`/api/rooms/${room}/files`)).json;
      assert.deepEqual(
        files.map(({ fileName }: { fileName: string }) => fileName),
        ['a.txt'],
      );
    }
    await control.stop();
    assert.equal((await two.api.delete(`/api/rooms/${doomed}`)).status, 200);
    assert.equal((await one.api.get(`/api/rooms/${doomed}`)).code, 'ROOM_NOT_FOUND');
    assert.equal((await s3.keys()).length, 2);

    port = s3.port;
    for (const { api } of nodes) {
      assert.equal((await api.get(new URL(fileUrl).pathname)).text, 'abc');
      assert.equal((await api.upload(room, 'c.txt', 'abc')).status, 201);
    }
    await one.api.delete(`/api/rooms/${room}`);
    await eventually('the bytes of both rooms are gone', async () => (await s3.keys()).length === 0);
  });

  it('[NODE-13] is reported within seconds if the store accepts the connection of an upload and stays silent', async (t) => {
    const [{ api }] = nodes;
    const room = await api.room();
    proxy.pause();
    const control = askWithoutStores(nodes);
    const since = performance.now();
    const uploads = [Buffer.from('abc'), Buffer.alloc(10 * 1024 * 1024)].map((bytes) => api.upload(room, 'a', bytes));
    for (const refused of await Promise.all(uploads)) assertError(refused, 503, 'UNAVAILABLE');
    const took = performance.now() - since;
    await control.stop();
    // The node counts polls, and a busy machine delays each of them.
    assert.ok(took < uploadRefusedWithinMs + 8 * control.slowest(), `they were refused after ${took} ms`);
    proxy.disconnect();
    proxy.resume();
    assert.equal((await api.upload(room, 'a', 'abc')).status, 201);
    t.diagnostic(`refused after ${Math.round(took)} ms, without the store ${Math.round(control.slowest())} ms`);
  });
});
