/** The admin interface of one node shows and controls all nodes. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { adminEnv, adminOf } from '../support/admin.ts';
import { assertError } from '../support/assert-error.ts';
import { joinRoom } from '../support/device.ts';
import { eventually } from '../support/eventually.ts';
import { apiKeysOf, bearer } from '../support/keys.ts';
import { installationSettings, withoutLimits } from '../support/nodes.ts';
import { type RedisServer, startRedis } from '../support/redis.ts';
import { startS3, type TestS3 } from '../support/s3.ts';
import { startTestServer } from '../support/server.ts';

const blocked = '198.51.100.7';

describe('an operator of two nodes', () => {
  let redis: RedisServer;
  let s3: TestS3;
  before(async () => {
    [redis, s3] = await Promise.all([startRedis(), startS3()]);
    // The servers run in this process.
    Object.assign(process.env, s3.env);
  });
  after(() => Promise.all([redis.stop(), s3.stop()]));

  it('[ADMIN-9] sees the numbers of both, and blocks, removes and revokes on both', async (t) => {
    const settings = installationSettings({ redis, s3 }, { ...withoutLimits, ...adminEnv });
    const options = { blockCheckMs: 50, activityReportMs: 50 };
    const [one, two] = [
      await startTestServer(t, settings, options),
      await startTestServer(t, settings, options),
    ] as const;
    const admin = adminOf(one);
    const key = await apiKeysOf(t, one).make('laptop', 'pro');
    const room = await one.api.room();
    const join = (url: string, from: string) => joinRoom(t, url, room, {}, { headers: { 'x-forwarded-for': from } });
    const devices = [await join(one.url, '203.0.113.7'), await join(two.url, blocked)];
    for (const device of devices) await device.next('snapshot');
    await two.api.get('/api/health', { headers: bearer(key) });
    await two.api.get('/api/health', { from: blocked });

    const numbers = await eventually('both nodes have reported', async () => {
      const { json } = await admin.get('/numbers');
      const requests = json.points.reduce((sum: number, point: { requests: number }) => sum + point.requests, 0);
      return requests === 5 && json.channels === 2 && json;
    });
    assert.deepEqual([numbers.nodes, numbers.rooms], [2, 1]);
    const { clients } = (await admin.get('/clients')).json;
    assert.equal(clients.find(({ client }: { client: string }) => client === blocked)?.requests, 2);
    const [{ id, requests }] = (await admin.get('/keys')).json.keys;
    assert.equal(requests, 1);

    await admin.post('/blocks', { range: `${blocked}/32`, reason: 'a test' });
    await devices[1]?.closed;
    assertError(await two.api.get('/api/health', { from: blocked }), 403, 'ADDRESS_BLOCKED');
    const [block] = (await adminOf(two).get('/blocks')).json.blocks;
    await adminOf(two).delete(`/blocks/${block.id}`);
    await eventually('it is unblocked on the other', async () => {
      return (await one.api.get('/api/health', { from: blocked })).status === 200;
    });

    await admin.delete(`/keys/${id}`);
    assertError(await two.api.get('/api/health', { headers: bearer(key) }), 401, 'INVALID_API_KEY');
    const [{ id: handle }] = (await admin.get('/rooms')).json.rooms;
    assert.equal((await adminOf(two).delete(`/rooms/${handle}`)).status, 200);
    assert.equal((await devices[0]?.next('closed'))?.reason, 'deleted');
    await two.stop();
    assert.equal((await admin.get('/numbers')).json.nodes, 1);
  });
});
