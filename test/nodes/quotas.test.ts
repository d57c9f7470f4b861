/** Storage quotas across two nodes. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { assertError } from '../support/assert-error.ts';
import { installationSettings, type Stores, startTwoNodes, withoutLimits } from '../support/nodes.ts';
import { type RedisServer, startRedis } from '../support/redis.ts';
import { startS3, type TestS3 } from '../support/s3.ts';
import { createUpload } from '../support/tus.ts';

const KiB = 1024;

describe('quotas across two nodes', () => {
  let stores: Stores & { redis: RedisServer; s3: TestS3 };
  before(async () => {
    stores = { redis: await startRedis(), s3: await startS3() };
  });
  after(() => Promise.all([stores.redis.stop(), stores.s3.stop()]));

  it('[NODE-18] [TUS-2] are exact when 50 uploads of one client are concurrent on both, and a removal on one frees both', async (t) => {
    const nodes = await startTwoNodes(
      t,
      installationSettings(stores, { ...withoutLimits, POPROOM_CLIENT_MAX_BYTES: '1MiB' }),
    );
    const from = '203.0.113.7';
    const rooms = await Promise.all(Array.from({ length: 4 }, (_, i) => nodes[i % 2 ? 1 : 0].api.room()));
    const send = (i: number, bytes: number) =>
      nodes[i % 2 ? 1 : 0].api.upload(rooms[i % 4] ?? '', `${i}.bin`, Buffer.alloc(bytes), { from });
    const create = (i: number, bytes: number) =>
      createUpload(nodes[i % 2 ? 1 : 0].api, rooms[i % 4] ?? '', bytes, { 'x-forwarded-for': from });
    const responses = await Promise.all(
      Array.from({ length: 50 }, (_, i) => (i % 4 < 2 ? send(i, 100 * KiB) : create(i, 100 * KiB))),
    );
    const refused = responses.filter(({ status }) => status !== 201);
    for (const response of refused) assertError(response, 413, 'QUOTA_EXCEEDED');
    assert.equal(refused.length, 40);
    assert.equal((await send(1, 24 * KiB)).status, 201, 'the last byte fits');
    assertError(await send(0, 1), 413, 'QUOTA_EXCEEDED');
    assertError(await create(1, 1), 413, 'QUOTA_EXCEEDED');

    for (const room of rooms) assert.equal((await nodes[0].api.delete(`/api/rooms/${room}`)).status, 200);
    const room = await nodes[1].api.room();
    assert.equal((await nodes[1].api.upload(room, 'all.bin', Buffer.alloc(1024 * KiB), { from })).status, 201);
  });
});
