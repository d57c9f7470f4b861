/** Redis over TLS, with a certificate of the operator's own authority. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { connectRedis } from '../../src/redis/connection.ts';
import { parseRedisUrl } from '../../src/redis/redis-url.ts';
import { joinRoom } from '../support/device.ts';
import { installationSettings, startNode, withoutLimits } from '../support/nodes.ts';
import { type RedisOverTls, startRedisOverTls } from '../support/redis-tls.ts';
import { startS3, type TestS3 } from '../support/s3.ts';

describe('Redis over TLS', { concurrency: true }, () => {
  let redis: RedisOverTls;
  let s3: TestS3;
  before(async () => {
    [redis, s3] = await Promise.all([startRedisOverTls(), startS3()]);
  });
  after(() => Promise.all([redis.stop(), s3.stop()]));

  it('[NODE-17] serves from a server, and from one that a Sentinel names, itself over TLS, when its authority is trusted', async (t) => {
    const trust = { NODE_EXTRA_CA_CERTS: redis.caFile };
    const settings = installationSettings({ redis, s3 }, { ...withoutLimits, ...trust });
    const store = settings.POPROOM_STORE?.replace(`${redis.url}?`, `${redis.sentinelUrl}&`) ?? '';
    assert.match(store, /sentinel=.*prefix=/);
    const nodes = await Promise.all([startNode(t, settings), startNode(t, { ...settings, POPROOM_STORE: store })]);
    const room = await nodes[0].api.room();
    const devices = await Promise.all(nodes.map(({ url }) => joinRoom(t, url, room)));
    for (const device of devices) await device.next('snapshot');
    for (const [n, { api }] of nodes.entries()) {
      const content = `over TLS ${n}`;
      await api.post(`/api/rooms/${room}/content`, { json: { content } });
      for (const device of devices) await device.next('content', (message) => message.content === content);
    }
  });

  it('[NODE-17] does not talk to a server whose certificate is not trusted', async () => {
    const refused = { code: 'UNAVAILABLE', message: /self-signed certificate/ };
    await assert.rejects(connectRedis(parseRedisUrl(redis.url)), refused);
  });
});
