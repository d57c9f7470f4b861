/** Redis over TLS, with a certificate of the operator's own authority. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { connectRedis } from '../../src/redis/connection.ts';
import { parseRedisUrl } from '../../src/redis/redis-url.ts';
import { joinRoom } from '../support/device.ts';
import { installationSettings, startTwoNodes, withoutLimits } from '../support/nodes.ts';
import { type RedisOverTls, startRedisOverTls } from '../support/redis-tls.ts';
import { startS3, type TestS3 } from '../support/s3.ts';

describe('Redis over TLS', { timeout: 60_000, concurrency: true }, () => {
  let redis: RedisOverTls;
  let s3: TestS3;
  before(async () => {
    [redis, s3] = await Promise.all([startRedisOverTls(), startS3()]);
  });
  after(() => Promise.all([redis.stop(), s3.stop()]));

  for (const [what, address] of [
    ['a server', (over: RedisOverTls) => over.url],
    ['a server that a Sentinel names, itself over TLS', (over: RedisOverTls) => over.sentinelUrl],
  ] as const) {
    it(`[NODE-17] serves from ${what}, when its authority is trusted`, async (t) => {
      const settings = installationSettings({ redis: { url: address(redis) }, s3 }, withoutLimits);
      const [one, two] = await startTwoNodes(t, { ...settings, NODE_EXTRA_CA_CERTS: redis.caFile });
      const room = await one.api.room();
      const device = await joinRoom(t, two.url, room);
      await device.next('snapshot');
      await one.api.post(`/api/rooms/${room}/content`, { json: { content: 'over TLS' } });
      assert.equal((await device.next('content')).content, 'over TLS');
    });
  }

  it('[NODE-17] does not talk to a server whose certificate is not trusted', async () => {
    const refused = { code: 'UNAVAILABLE', message: /self-signed certificate/ };
    await assert.rejects(connectRedis(parseRedisUrl(redis.url)), refused);
  });
});
