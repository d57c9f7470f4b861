/** Storage quotas across two nodes. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertError } from '../support/assert-error.ts';
import type { SharedNodes } from '../support/nodes.ts';
import { createUpload } from '../support/tus.ts';

const KiB = 1024;

/** The quota of a client on the nodes of these tests. */
export const clientMaxBytes = 2048 * KiB;

export function quotaTests(shared: () => SharedNodes): void {
  describe('quotas across two nodes', () => clientQuotaTests(shared));
}

function clientQuotaTests(shared: () => SharedNodes): void {
  it('[NODE-18] [TUS-2] are exact when 50 uploads of one client are concurrent on both, and a removal on one frees both', async () => {
    const { nodes } = shared();
    const from = '203.0.113.9';
    const rooms = await Promise.all(Array.from({ length: 4 }, (_, i) => nodes[i % 2 ? 1 : 0].api.room()));
    const send = (i: number, bytes: number) =>
      nodes[i % 2 ? 1 : 0].api.upload(rooms[i % 4] ?? '', `${i}.bin`, Buffer.alloc(bytes), { from });
    const create = (i: number, bytes: number) =>
      createUpload(nodes[i % 2 ? 1 : 0].api, rooms[i % 4] ?? '', bytes, { 'x-forwarded-for': from });
    const responses = await Promise.all(
      Array.from({ length: 50 }, (_, i) => (i % 4 < 2 ? send(i, 200 * KiB) : create(i, 200 * KiB))),
    );
    const refused = responses.filter(({ status }) => status !== 201);
    for (const response of refused) assertError(response, 413, 'QUOTA_EXCEEDED');
    assert.equal(refused.length, 40);
    assert.equal((await send(1, clientMaxBytes - 10 * 200 * KiB)).status, 201, 'the last byte fits');
    assertError(await send(0, 1), 413, 'QUOTA_EXCEEDED');
    assertError(await create(1, 1), 413, 'QUOTA_EXCEEDED');

    for (const room of rooms) assert.equal((await nodes[0].api.delete(`/api/rooms/${room}`)).status, 200);
    const room = await nodes[1].api.room();
    assert.equal((await nodes[1].api.upload(room, 'all.bin', Buffer.alloc(clientMaxBytes), { from })).status, 201);
  });
}
