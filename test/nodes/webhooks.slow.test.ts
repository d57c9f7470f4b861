/** Webhooks of a room that several nodes change. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { listenOnFreePort } from '../support/listen.ts';
import { installationSettings, startNode, withoutLimits } from '../support/nodes.ts';
import { type RedisServer, startRedis } from '../support/redis.ts';
import { startS3, type TestS3 } from '../support/s3.ts';
import { startTestServer } from '../support/server.ts';

describe('the webhooks of two nodes', () => {
  let redis: RedisServer;
  let s3: TestS3;
  before(async () => {
    [redis, s3] = await Promise.all([startRedis(), startS3()]);
    // The servers run in this process.
    Object.assign(process.env, s3.env);
  });
  after(() => Promise.all([redis.stop(), s3.stop()]));

  it('[HOOK-7] get each event from one node, and from the other one if that node is gone', async (t) => {
    let status = 204;
    const ids: string[] = [];
    let filesAdded = 0;
    const receiver = createServer(async (request, response) => {
      const { data } = JSON.parse(Buffer.concat(await request.toArray()).toString());
      ids.push(String(request.headers['webhook-id']));
      if (status === 204) filesAdded += data.filesAdded;
      response.writeHead(status).end();
    });
    const url = await listenOnFreePort(t, receiver);
    const hosts = { POPROOM_WEBHOOK_HOSTS: new URL(url).host };
    const settings = installationSettings({ redis, s3 }, { ...withoutLimits, ...hosts });
    const options = { webhookScanMs: 20 };
    const [one, two] = [await startTestServer(t, settings, options), await startTestServer(t, settings, options)];
    const room = await one.api.room();
    await one.api.post(`/api/rooms/${room}/webhooks`, { json: { url, events: ['file'] } });
    for (let n = 0; n < 10; n++) await (n % 2 === 0 ? one : two).api.upload(room, `${n}.txt`, 'x');
    await eventually('all files are reported', () => filesAdded >= 10);
    assert.equal(filesAdded, 10);
    assert.equal(new Set(ids).size, ids.length, 'no event was sent twice');

    status = 500;
    await one.api.upload(room, 'last.txt', 'x');
    const [failed] = await eventually('it failed', async () => {
      const [webhook] = (await two.api.get(`/api/rooms/${room}/webhooks`)).json.webhooks;
      return webhook.lastError && ids.slice(-1);
    });
    await one.stop();
    status = 204;
    two.clock.advance(5000);
    await eventually('the other node sends it', () => filesAdded === 11);
    assert.equal(ids.at(-1), failed);
  });

  it('[HOOK-7] get an event at least once, with the same id, if the node is killed while it sends it', async (t) => {
    const requests: { id: string; filesAdded: number }[] = [];
    const receiver = createServer(async (request, response) => {
      const { data } = JSON.parse(Buffer.concat(await request.toArray()).toString());
      const id = String(request.headers['webhook-id']);
      requests.push({ id, filesAdded: data.filesAdded });
      // The first one is never answered.
      if (requests.length > 1) response.writeHead(204).end();
    });
    const url = await listenOnFreePort(t, receiver);
    const hosts = { POPROOM_WEBHOOK_HOSTS: new URL(url).host };
    const settings = installationSettings({ redis, s3 }, { ...withoutLimits, ...hosts });
    const killed = await startNode(t, settings);
    const room = await killed.api.room();
    await killed.api.post(`/api/rooms/${room}/webhooks`, { json: { url, events: ['file'] } });
    await killed.api.upload(room, 'a.txt', 'x');
    await eventually('it is being sent', () => requests.length === 1);
    await killed.end('SIGKILL');

    const other = await startNode(t, settings);
    await eventually('the other node sends it when the lease has ended', () => requests.length > 1, 60_000);
    assert.deepEqual(
      requests.map(({ id, filesAdded }) => [id, filesAdded]),
      [0, 1].map(() => [requests[0]?.id, 1]),
    );
    await eventually('the delivery is stored', async () => {
      const [webhook] = (await other.api.get(`/api/rooms/${room}/webhooks`)).json.webhooks;
      return webhook.lastDelivery !== undefined && webhook.lastError === undefined;
    });
    await other.api.upload(room, 'b.txt', 'x');
    await eventually('the next event is another one', () => requests.length > 2);
    assert.notEqual(requests[2]?.id, requests[0]?.id);
    assert.equal(requests.length, 3, 'nothing is sent a third time');
  });
});
