/** Blocked addresses: what is refused, what is not, and how an operator makes and removes blocks. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseRange } from '../../src/http/admin/admin-interface.ts';
import { adminEnv, adminOf } from '../support/admin.ts';
import type { ApiResponse } from '../support/api.ts';
import { assertError } from '../support/assert-error.ts';
import { connect, joinRoom } from '../support/device.ts';
import { apiKeysOf } from '../support/keys.ts';
import { startTestServer } from '../support/server.ts';
import { createUpload } from '../support/tus.ts';

const [blocked, other] = ['198.51.100.7', '203.0.113.7'];
const range = '198.51.100.0/24';

describe('a blocked address', () => {
  it('[ADMIN-7] is refused by the API, the live channel, events, uploads, files and the page', async (t) => {
    const server = await startTestServer(t, { ...adminEnv, POPROOM_MISS_LIMIT: '1' });
    const { api, clock } = server;
    const admin = adminOf(server);
    const key = await apiKeysOf(t, server).make('laptop', 'pro');
    const room = await api.room();
    const { fileUrl } = (await api.upload(room, 'a.txt', 'abc')).json;
    const { json: made, status } = await admin.post('/blocks', { range, reason: 'a test', expiresIn: 3600 });
    const until = new Date(clock.now + 3600_000).toISOString();
    assert.deepEqual([status, made.range, made.reason, made.endsAt], [201, range, 'a test', until]);

    const at = `/api/rooms/${room}`;
    const from = blocked;
    const html = { accept: 'text/html' };
    const refused: ApiResponse[] = [
      await api.get(at, { from }),
      await api.get(at, { from, headers: { 'x-api-key': key } }),
      await api.post(`${at}/content`, { from, json: { content: 'x' } }),
      await api.get(`${at}/events`, { from }),
      await createUpload(api, room, 5, { 'x-forwarded-for': from }),
      await api.upload(room, 'b.txt', Buffer.alloc(100_000), { from }),
      await api.get(fileUrl, { from }),
      await api.get('/api/nothing', { from }),
      await api.get('/', { from, headers: html }),
      await api.get('/assets/icon.svg', { from }),
      await api.get('/docs', { from }),
      await api.get('/admin', { from, headers: html }),
    ];
    for (const response of refused) {
      assert.equal(assertError(response, 403, 'ADDRESS_BLOCKED').until, until);
      assert.ok(!response.text.includes('a test'), 'the reason is for operators');
    }
    await assert.rejects(connect(t, server.url, room, { headers: { 'x-forwarded-for': from } }), /403/);
    for (const path of ['/livez', '/readyz', '/metrics']) assert.equal((await api.get(path, { from })).status, 200);
    assert.equal((await api.get(at, { from: other })).status, 200);
    const [first] = (await admin.get('/clients?sort=refused')).json.clients;
    assert.deepEqual([first.client, first.refused], [blocked, refused.length + 1]);

    // An operator can undo a block from anywhere.
    assert.equal((await admin.get('/blocks', { from, headers: {} })).code, 'INVALID_ADMIN_TOKEN');
    assert.equal((await admin.get('/blocks')).json.blocks.length, 1);
    assert.equal((await admin.delete(`/blocks/${made.id}`)).status, 200);
    assert.equal((await api.get(at, { from })).status, 200);
    assertError(await admin.delete(`/blocks/${made.id}`), 404, 'NOT_FOUND');
  });

  it('[ADMIN-7] loses its open live channel, and others keep theirs', async (t) => {
    const server = await startTestServer(t, adminEnv);
    const room = await server.api.room();
    const join = (from: string) => joinRoom(t, server.url, room, {}, { headers: { 'x-forwarded-for': from } });
    const [first, second] = [await join(blocked), await join(other)];
    for (const device of [first, second]) await device.next('snapshot');
    await adminOf(server).post('/blocks', { range: blocked, reason: 'a test' });
    assert.equal((await first.closed).code, 1006);
    await server.api.post(`/api/rooms/${room}/content`, { json: { content: 'still here' } });
    assert.equal((await second.next('content')).content, 'still here');
  });
});

describe('blocks', () => {
  it('[ADMIN-8] end at their time, and survive a restart until then', async (t) => {
    const server = await startTestServer(t, adminEnv, { blockCheckMs: 20 });
    const { api, clock, restart } = server;
    const admin = adminOf(server);
    await admin.post('/blocks', { range, reason: 'short', expiresIn: 60 });
    await admin.post('/blocks', { range: '2001:db8::/32', reason: 'endless' });
    await restart();
    assertError(await api.get('/api/health', { from: blocked }), 403, 'ADDRESS_BLOCKED');
    assert.deepEqual(assertError(await api.get('/api/health', { from: '2001:db8:9::1' }), 403, 'ADDRESS_BLOCKED'), {});
    clock.advance(60_000);
    await admin.post('/blocks', { range: '192.0.2.128/25', reason: 'the list is read again' });
    assert.equal((await api.get('/api/health', { from: blocked })).status, 200);
    const ranges = (await admin.get('/blocks')).json.blocks.map((block: { range: string }) => block.range);
    assert.deepEqual(ranges, ['192.0.2.128/25', '2001:db8::/32']);
  });

  it('[ADMIN-8] do not lock out the operator or this machine by accident', async (t) => {
    const server = await startTestServer(t, adminEnv);
    const admin = adminOf(server);
    const own = assertError(
      await admin.post('/blocks', { range: '192.0.2.0/24', reason: 'x' }),
      400,
      'VALIDATION_FAILED',
    );
    assert.deepEqual(own, { field: 'range', reason: 'own-address' });
    for (const local of ['127.0.0.1', '127.5.0.0/16', '0.0.0.0/0', '::1', '::/0']) {
      const details = assertError(await admin.post('/blocks', { range: local, reason: 'x' }), 400, 'VALIDATION_FAILED');
      assert.deepEqual(details, { field: 'range', reason: 'loopback' }, local);
    }
    assert.equal((await admin.post('/blocks', { range: '192.0.2.0/24', reason: 'x', force: true })).status, 201);
    // The address that made it is blocked, except for the admin API.
    const { blocks } = (await admin.get('/blocks')).json;
    assertError(await server.api.get('/api/health', { from: '192.0.2.1' }), 403, 'ADDRESS_BLOCKED');
    assert.equal((await admin.delete(`/blocks/${blocks[0].id}`)).status, 200);
  });

  it('[ADMIN-8] reject what is not a range, and more than the maximum', async (t) => {
    const server = await startTestServer(t, adminEnv, { maxBlocks: 5 });
    const admin = adminOf(server);
    for (const json of [{ range: 'x' }, { range: '1.2.3.4/33' }, { range: '' }, {}, { range, reason: '' }]) {
      assertError(await admin.post('/blocks', { reason: 'x', ...json }), 400, 'VALIDATION_FAILED');
    }
    for (const extra of [{ expiresIn: 59 }, { expiresIn: 1e12 }, { reason: 'x'.repeat(201) }, { other: 1 }]) {
      assertError(await admin.post('/blocks', { range, reason: 'x', ...extra }), 400, 'VALIDATION_FAILED');
    }
    const make = (i: number) => admin.post('/blocks', { range: `198.18.0.${i}`, reason: 'x' });
    const made = await Promise.all(Array.from({ length: 10 }, (_, i) => make(i)));
    assert.equal(made.filter(({ status }) => status === 201).length, 5);
    assert.equal(assertError(await make(10), 400, 'VALIDATION_FAILED').maximum, 5);
    const { blocks, maximum } = (await admin.get('/blocks')).json;
    assert.deepEqual([blocks.length, maximum], [5, 5]);
    assert.equal((await admin.post('/blocks', { range: blocks[0].range, reason: 'again' })).status, 201);
  });

  it('[ADMIN-8] have a canonical range', () => {
    const canonical: [given: string, range: string | undefined][] = [
      ['198.51.100.7', '198.51.100.7/32'],
      [' 198.51.100.7/24 ', '198.51.100.0/24'],
      ['198.51.100.7/0', '0.0.0.0/0'],
      ['2001:DB8::1/32', '2001:db8::/32'],
      ['2001:db8:1:2:ffff::1/65', '2001:db8:1:2:8000::/65'],
      ['::ffff:198.51.100.7/120', '198.51.100.0/24'],
      ['::ffff:0:0/95', '::fffe:0:0/95'],
      ['1.2.3', undefined],
      ['01.2.3.4', undefined],
      ['1.2.3.4/', undefined],
      ['fe80::1%eth0', undefined],
      ['2001:db8::/129', undefined],
    ];
    for (const [given, expected] of canonical) {
      const parsed = parseRange(given);
      assert.equal(parsed && `${parsed.address}/${parsed.prefix}`, expected, given);
    }
  });
});
