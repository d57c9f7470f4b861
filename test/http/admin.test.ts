/** The admin interface: access, numbers, rooms, clients and keys. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { adminEnv, adminOf, adminToken, masked } from '../support/admin.ts';
import { assertError } from '../support/assert-error.ts';
import { joinRoom } from '../support/device.ts';
import { eventually } from '../support/eventually.ts';
import { apiKeysOf, bearer } from '../support/keys.ts';
import { createSealedRoom } from '../support/sealed-room.ts';
import { sharedServer, startTestServer } from '../support/server.ts';
import { storedBlobs } from '../support/stored-blobs.ts';

const [here, there] = ['203.0.113.7', '203.0.113.8'];
const KiB = 1024;

describe('access', () => {
  it('[ADMIN-1] does not exist without a token in the settings', async (t) => {
    const { api, url } = await sharedServer(t);
    const headers = bearer(adminToken);
    assert.equal((await fetch(`${url}/admin`, { headers: { accept: 'text/html' } })).status, 404);
    for (const path of ['/admin', '/admin/', '/api/admin', '/api/admin/numbers', '/api/admin/rooms/7KQ2MX']) {
      for (const sent of [{}, headers]) assertError(await api.get(path, { headers: sent }), 404, 'NOT_FOUND', path);
      for (const method of ['DELETE', 'POST', 'OPTIONS']) {
        assertError(await api.call(method, path), 404, 'NOT_FOUND', `${method} ${path}`);
      }
    }
  });

  it('[ADMIN-2] needs the token in a header, and is for pages of this server only', async (t) => {
    const { api } = await startTestServer(t, adminEnv);
    const { status, headers } = await api.get('/api/admin/numbers', { headers: bearer(adminToken) });
    assert.deepEqual([status, headers.get('access-control-allow-origin')], [200, null]);
    assert.equal(headers.get('cache-control'), 'no-store');
    for (const wrong of [{}, bearer(''), bearer(`${adminToken}x`), { 'x-api-key': adminToken }]) {
      const refused = await api.get(`/api/admin/numbers?token=${encodeURIComponent(adminToken)}`, { headers: wrong });
      assertError(refused, 401, 'INVALID_ADMIN_TOKEN');
      assert.equal(refused.headers.get('www-authenticate'), 'Bearer realm="admin"');
    }
    assertError(await api.get('/api/admin/nothing', { headers: bearer(adminToken) }), 404, 'NOT_FOUND');
    assertError(await api.get('/api/rooms/7KQ2MX', { headers: bearer(adminToken) }), 401, 'INVALID_API_KEY');
  });

  it('[ADMIN-2] allows ten wrong tokens per client and hour, and always the right one', async (t) => {
    const server = await startTestServer(t, adminEnv);
    const { api, clock, restart } = server;
    const guess = (token: string, from = here) => api.get('/api/admin/blocks', { headers: bearer(token), from });
    const guesses = await Promise.all(Array.from({ length: 30 }, (_, i) => guess(`a wrong token ${i}`)));
    assert.equal(guesses.filter(({ code }) => code === 'INVALID_ADMIN_TOKEN').length, 10);
    assert.equal(guesses.filter(({ code }) => code === 'RATE_LIMITED').length, 20);
    assert.equal((await guess(adminToken)).status, 200);
    await restart();
    const details = assertError(await guess('a wrong token'), 429, 'RATE_LIMITED');
    assert.deepEqual([details.reason, details.limit], ['misses', 10]);
    assert.equal((await guess(adminToken)).status, 200);
    // A request without a token is not a guess, and other clients are not affected.
    assertError(await guess(''), 401, 'INVALID_ADMIN_TOKEN');
    assertError(await guess('a wrong token', there), 401, 'INVALID_ADMIN_TOKEN');
    clock.advance(3600_000);
    assertError(await guess('a wrong token'), 401, 'INVALID_ADMIN_TOKEN');
  });

  it('[ADMIN-2] rejects parameters out of range, and names them', async (t) => {
    const admin = adminOf(await sharedServer(t, adminEnv));
    const wrong = [
      '/numbers?hours=0',
      '/numbers?hours=169',
      '/rooms?limit=201',
      '/rooms?offset=9801',
      '/rooms?sort=name',
    ];
    for (const path of [...wrong, '/rooms?client=x', '/clients?hours=25', '/clients?sort=', '/keys?limit=-1']) {
      const details = assertError(await admin.get(path), 400, 'VALIDATION_FAILED', path);
      assert.equal(details.field, /\?(\w+)=/.exec(path)?.[1]);
    }
  });
});

describe('the page for operators', () => {
  it('[ADMIN-10] allows only its own script and style, and is not part of the other pages', async (t) => {
    const { api } = await sharedServer(t, adminEnv);
    const { status, headers, text } = await api.get('/admin');
    assert.equal(status, 200);
    const policy = headers.get('content-security-policy') ?? '';
    assert.match(policy, /^default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'; img-src 'self'; /);
    for (const rule of ["connect-src 'self'", "frame-ancestors 'none'", "require-trusted-types-for 'script'"]) {
      assert.ok(policy.includes(rule), rule);
    }
    assert.equal(headers.get('x-robots-tag'), 'noindex');
    assert.deepEqual(
      [...text.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, path]) => path),
      ['assets/icon.svg'],
    );
    assert.doesNotMatch((await api.get('/')).text, /admin/);
  });
});

describe('numbers', () => {
  it('[ADMIN-3] are kept over time and restarts, with the current ones', async (t) => {
    const server = await startTestServer(t, adminEnv);
    const { api, clock, restart } = server;
    const admin = adminOf(server);
    const room = await api.room({}, { from: here });
    await api.upload(room, 'a.bin', Buffer.alloc(100 * KiB), { from: here });
    const device = await joinRoom(t, server.url, room);
    await device.next('snapshot');
    await api.get('/api/rooms/7KQ2MX', { from: here });
    await api.get('/livez');

    const { points, ...current } = (await admin.get('/numbers')).json;
    assert.deepEqual(current, { intervalSeconds: 300, nodes: 1, rooms: 1, channels: 1, storedBytes: 100 * KiB });
    const [point, ...rest] = points;
    assert.deepEqual(rest, []);
    const { received, sent, ...counts } = point;
    const expected = {
      requests: 4,
      refused: 1,
      failed: 0,
      roomsCreated: 1,
      rooms: 1,
      channels: 1,
      storedBytes: 100 * KiB,
    };
    assert.deepEqual(counts, { at: new Date(clock.now).toISOString(), ...expected });
    assert.ok(received > 100 * KiB && received < 110 * KiB, String(received));
    assert.ok(sent > 500 && sent < 20 * KiB, String(sent));

    await restart();
    clock.advance(3600_000);
    await api.get('/api/health', { from: here });
    const later = (await admin.get('/numbers?hours=2')).json.points;
    assert.deepEqual(
      later.map(({ requests }: { requests: number }) => requests),
      [4, 1],
    );
    assert.equal((await admin.get('/numbers?hours=1')).json.points.length, 2);
    const { intervalSeconds, points: hourly } = (await admin.get('/numbers?hours=168')).json;
    assert.deepEqual([intervalSeconds, hourly.length], [3600, 2]);
    clock.advance(8 * 86_400_000);
    assert.equal((await admin.get('/numbers?hours=168')).json.points.length, 1);
  });
});

describe('rooms', () => {
  it('[ADMIN-4] are listed by size or age, in pages, without text, names, PINs or codes', async (t) => {
    const server = await startTestServer(t, adminEnv);
    const { api, clock, logged } = server;
    const admin = adminOf(server);
    const pinned = { from: here, pin: '0427' };
    const oldest = await api.room({ pin: '0427', name: 'private room' }, { from: here });
    await api.post(`/api/rooms/${oldest}/content`, { ...pinned, json: { content: 'private text' } });
    clock.advance(60_000);
    const largest = await api.room({}, { from: there });
    await api.upload(largest, 'private file.txt', Buffer.alloc(300 * KiB), { from: there });
    clock.advance(60_000);
    const { code: sealed } = await createSealedRoom(api);
    const device = await joinRoom(t, server.url, largest, { deviceId: 'private-device', deviceName: 'private laptop' });
    await device.next('snapshot');

    const { total, rooms } = (await admin.get('/rooms')).json;
    assert.equal(total, 3);
    const [first] = rooms;
    const { id, textBytes, clientHash, ...fields } = first;
    assert.match(id, /^[\w-]{40,60}$/);
    assert.match(clientHash, /^[0-9a-f]{12}$/);
    assert.equal(textBytes, 0);
    assert.deepEqual(fields, {
      code: masked(largest),
      createdAt: new Date(clock.now - 60_000).toISOString(),
      expiresAt: new Date(clock.now - 60_000 + 86_400_000).toISOString(),
      hasPin: false,
      fileCount: 1,
      fileBytes: 300 * KiB,
      deviceCount: 1,
    });
    const byAge = (await admin.get('/rooms?sort=age')).json.rooms;
    const codesOf = (list: { code: string }[]) => list.map(({ code }) => code);
    assert.deepEqual(codesOf(byAge), [oldest, largest, sealed].map(masked));
    assert.deepEqual([byAge[0].hasPin, byAge[2].encrypted], [true, true]);
    const page = (await admin.get('/rooms?sort=age&limit=1&offset=1')).json;
    assert.deepEqual([page.total, codesOf(page.rooms)], [3, [masked(largest)]]);
    const own = (await admin.get(`/rooms?client=${clientHash}`)).json;
    assert.deepEqual([own.total, codesOf(own.rooms)], [1, [masked(largest)]]);

    for (const path of ['/numbers', '/clients', '/blocks', '/keys']) assert.equal((await admin.get(path)).status, 200);
    const said = admin.seen.join('\n');
    for (const secret of ['private', oldest, largest, sealed])
      assert.ok(!said.includes(secret), `${secret} is in ${said}`);
    assert.doesNotMatch(said, /(?<![\w-])0427(?![\w-])/);
    assert.ok(!logged().includes(adminToken));
  });

  it('[ADMIN-5] have codes that can be revealed, which the log says with the request id', async (t) => {
    const server = await sharedServer(t, adminEnv);
    const { api, logged } = server;
    const admin = adminOf(server);
    const room = await api.room();
    const listed = (await admin.get('/rooms?sort=age&limit=200')).json.rooms;
    const { id } = listed.find(({ code }: { code: string }) => code === masked(room));
    for (const name of [id, room.toLowerCase()]) {
      const { status, json, headers } = await admin.post(`/rooms/${name}/reveal`);
      assert.equal(status, 200);
      if (name !== id) assert.equal(json.roomId, room);
      const requestId = headers.get('x-request-id') ?? '';
      const line = logged()
        .split('\n')
        .find((entry) => entry.includes(requestId) && entry.includes('revealed'));
      assert.deepEqual(JSON.parse(line ?? '{}').room, masked(json.roomId));
    }
    for (const unknown of ['ZZZZZZ', `${id}A`, `A${id.slice(1)}`, 'x'.repeat(50), '%00']) {
      assertError(await admin.post(`/rooms/${unknown}/reveal`), 404, 'ROOM_NOT_FOUND', unknown);
      assertError(await admin.delete(`/rooms/${unknown}`), 404, 'ROOM_NOT_FOUND', unknown);
    }
  });

  it('[ADMIN-5] can be removed, with their files and for everyone in them', async (t) => {
    const server = await startTestServer(t, adminEnv);
    const { api } = server;
    const admin = adminOf(server);
    const room = await api.room({ pin: '0427' });
    await api.upload(room, 'a.txt', 'bytes', { pin: '0427' });
    const device = await joinRoom(t, server.url, room, { pin: '0427' });
    await device.next('snapshot');
    const [{ id }] = (await admin.get('/rooms')).json.rooms;
    const removed = await admin.delete(`/rooms/${id}`);
    assert.deepEqual(removed.json, { success: true, message: `Room ${masked(room)} was removed.` });
    assert.equal((await device.next('closed')).reason, 'deleted');
    assertError(await api.get(`/api/rooms/${room}`, { pin: '0427' }), 404, 'ROOM_NOT_FOUND');
    assertError(await admin.delete(`/rooms/${id}`), 404, 'ROOM_NOT_FOUND');
    await eventually('the files are gone', async () => (await storedBlobs(server)).length === 0);
  });
});

describe('clients', () => {
  it('[ADMIN-6] are listed by requests, refusals and bytes, IPv6 by /64 and keys by id', async (t) => {
    const server = await startTestServer(t, adminEnv);
    const { api, clock } = server;
    const admin = adminOf(server);
    const key = bearer(await apiKeysOf(t, server).make('build-server', 'pro'));
    for (const from of [here, here, here]) await api.get('/api/health', { from });
    for (const from of ['2001:db8:1:2::1', '2001:db8:1:2:ffff::2']) await api.get('/api/rooms/7KQ2MX', { from });
    const room = await api.room({}, { headers: key, from: there });
    await api.upload(room, 'a.bin', Buffer.alloc(50 * KiB), { headers: key, from: there });
    const names = async (query: string) =>
      (await admin.get(`/clients${query}`)).json.clients.map(({ client }: { client: string }) => client);
    const [busiest, refused] = [here, '2001:db8:1:2::/64'];
    const [{ id }] = (await admin.get('/keys')).json.keys;
    assert.deepEqual(await names(''), [busiest, refused, `key:${id}`]);
    assert.deepEqual((await names('?sort=refused'))[0], refused);
    assert.deepEqual(await names('?sort=bytes&limit=1'), [`key:${id}`]);
    assert.deepEqual((await names('?sort=requests&offset=1')).length, 2);
    const { clients, total } = (await admin.get('/clients?sort=refused')).json;
    const { received, sent, clientHash, ...counts } = clients[0];
    assert.deepEqual([total, counts], [3, { client: refused, requests: 2, refused: 2 }]);
    assert.ok(received > 100 && sent > 100, `${received} ${sent}`);
    assert.match(clientHash, /^[0-9a-f]{12}$/);

    clock.advance(3 * 3600_000);
    assert.deepEqual(await names(''), []);
    assert.equal((await names('?hours=24')).length, 3);
    clock.advance(24 * 3600_000);
    assert.deepEqual(await names('?hours=24'), []);
  });
});

describe('API keys', () => {
  it('[ADMIN-11] are listed with their use, newest first, and never with the key', async (t) => {
    const server = await startTestServer(t, adminEnv);
    const { api, clock } = server;
    const admin = adminOf(server);
    const keys = apiKeysOf(t, server);
    const used = await keys.make('used', 'pro');
    clock.advance(1000);
    const unused = await keys.make('unused', 'free');
    await api.get('/api/health', { headers: bearer(used) });
    await api.get('/api/rooms/7KQ2MX', { headers: bearer(used) });
    const usedAt = new Date(clock.now).toISOString();
    const { total, keys: listed } = (await admin.get('/keys')).json;
    assert.deepEqual([total, listed.length], [2, 2]);
    assert.deepEqual([listed[0].name, listed[0].requests, listed[0].lastUsedAt], ['unused', 0, undefined]);
    const { name, tier, requests, refused, lastUsedAt } = listed[1];
    assert.deepEqual([name, tier, requests, refused, lastUsedAt], ['used', 'pro', 2, 1, usedAt]);
    assert.equal((await admin.get('/keys?limit=1&offset=1')).json.keys[0].name, 'used');
    for (const key of [used, unused]) assert.ok(!admin.seen.join().includes(key));
  });

  it('[ADMIN-11] can be revoked by their id, which survives a restart', async (t) => {
    const server = await startTestServer(t, adminEnv);
    const { api, clock, restart } = server;
    const admin = adminOf(server);
    const key = await apiKeysOf(t, server).make('laptop', 'pro');
    const [{ id }] = (await admin.get('/keys')).json.keys;
    for (const unknown of ['laptop', '0000000000'])
      assertError(await admin.delete(`/keys/${unknown}`), 404, 'NOT_FOUND');
    const { json } = await admin.delete(`/keys/${id}`);
    assert.deepEqual([json.id, json.revokedAt], [id, new Date(clock.now).toISOString()]);
    assertError(await api.get('/api/health', { headers: bearer(key) }), 401, 'INVALID_API_KEY');
    assertError(await admin.delete(`/keys/${id}`), 404, 'NOT_FOUND');
    await restart();
    assertError(await api.get('/api/health', { headers: bearer(key) }), 401, 'INVALID_API_KEY');
    assert.ok((await admin.get('/keys')).json.keys[0].revokedAt);
  });
});
