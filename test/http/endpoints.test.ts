/** Health, the list of files, and rules for all endpoints. */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { describe, it } from 'node:test';
import type { Endpoint } from '../../src/protocol/endpoints/endpoint.ts';
import { endpoints } from '../../src/protocol/endpoints.ts';
import type { ApiResponse } from '../support/api.ts';
import { assertError } from '../support/assert-error.ts';
import { breakFileStore, breakStore } from '../support/break-store.ts';
import { sharedServer, startTestServer, type TestServer } from '../support/server.ts';

describe('health', () => {
  it('[API-7] reports a healthy server, and its uptime', async (t) => {
    const { api, clock, restart } = await startTestServer(t);
    clock.advance(86_400_123);
    const { status, json } = await api.get('/api/health');
    assert.equal(status, 200);
    assert.deepEqual(json, {
      status: 'healthy',
      timestamp: new Date(clock.now).toISOString(),
      uptime: 86_400.123,
    });
    await restart();
    assert.equal((await api.get('/api/health')).json.uptime, 0);
  });

  it('[API-7] counts the elapsed time, whatever the clock is set to', async (t) => {
    const { api, clock } = await startTestServer(t);
    clock.advance(5_000);
    for (const hours of [24, -48]) {
      clock.now += hours * 3_600_000;
      assert.equal((await api.get('/api/health')).json.uptime, 5);
    }
  });

  it('[API-7] is degraded when the files are unavailable', async (t) => {
    const server = await startTestServer(t);
    await breakFileStore(server);
    await assertDegraded(server);
  });

  it('[API-7] is degraded when the database does not respond', async (t) => {
    const server = await startTestServer(t);
    await breakStore(server);
    await assertDegraded(server);
  });
});

describe('the files of a room', () => {
  it('[API-8] are listed oldest first, with all their fields', async (t) => {
    const { api, clock } = await startTestServer(t);
    const room = await api.room();
    const expected: object[] = [];
    for (const [name, bytes] of [
      ['b.txt', 'bb'],
      ['a.txt', ''],
      ['c d.png', 'cccc'],
    ] as const) {
      clock.advance(1000);
      const headers = { 'content-type': name.endsWith('png') ? 'image/png' : 'text/plain' };
      const { fileUrl } = (await api.upload(room, name, bytes, { headers })).json;
      expected.push({
        fileId: fileUrl.split('/').at(-2),
        fileUrl,
        fileName: name,
        fileSize: bytes.length,
        contentType: headers['content-type'],
        uploadedAt: new Date(clock.now).toISOString(),
      });
    }
    const { status, json } = await api.get(`/api/rooms/${room}/files`);
    assert.equal(status, 200);
    assert.deepEqual(json, { files: expected });
    assert.deepEqual((await api.get(`/api/rooms/${await api.room()}/files`)).json, { files: [] });
  });

  it('[API-8] are listed in the order of their uploads if those happened in the same millisecond', async (t) => {
    const { api } = await sharedServer(t);
    const room = await api.room();
    const names = ['z', 'y', 'x', 'w', 'v', 'u'];
    for (const name of names) await api.upload(room, name, name);
    const { files } = (await api.get(`/api/rooms/${room}/files`)).json;
    assert.deepEqual(
      files.map(({ fileName }: { fileName: string }) => fileName),
      names,
    );
  });

  it('[API-8] are removed individually', async (t) => {
    const { api } = await sharedServer(t);
    const room = await api.room();
    const [gone, kept] = [await uploaded(api, room), await uploaded(api, room)];
    const { status, json } = await api.delete(`/api/rooms/${room}/files/${gone.id}`);
    assert.equal(status, 200);
    assert.equal(json.success, true);
    assert.equal(typeof json.message, 'string');
    assertError(await api.get(gone.url), 404, 'FILE_NOT_FOUND');
    assert.equal((await api.get(kept.url)).text, 'abc');
    assert.deepEqual(idsOf(await api.get(`/api/rooms/${room}/files`)), [kept.id]);
    assertError(await api.delete(`/api/rooms/${room}/files/${gone.id}`), 404, 'FILE_NOT_FOUND');
  });

  it('[API-8] are removed from their own room only', async (t) => {
    const { api } = await sharedServer(t);
    const [room, other] = [await api.room(), await api.room()];
    const { id } = await uploaded(api, room);
    for (const fileId of [id, id.toUpperCase(), 'x', '%00', '0'.repeat(32)]) {
      assertError(await api.delete(`/api/rooms/${other}/files/${fileId}`), 404, 'FILE_NOT_FOUND', fileId);
    }
    assert.deepEqual(idsOf(await api.get(`/api/rooms/${room}/files`)), [id]);
  });
});

describe('a response', () => {
  it('[API-9] has the status 201 for creations, 200 for other successes, and 304, 206 and 204 where specified', async (t) => {
    const { api } = await sharedServer(t);
    const room = await api.room();
    const path = `/api/rooms/${room}`;
    const file = await uploaded(api, room);
    const statuses: [number, ApiResponse][] = [
      [201, await api.post('/api/rooms')],
      [201, await api.upload(room, 'a.txt', 'abc')],
      [200, await api.get(path)],
      [200, await api.post(`${path}/content`, { json: { content: 'x' } })],
      [200, await api.get(`${path}/content`)],
      [304, await api.get(`${path}/content`, { headers: { 'if-none-match': '"1"' } })],
      [200, await api.get(`${path}/files`)],
      [200, await api.get(file.url)],
      [206, await api.get(file.url, { headers: { range: 'bytes=0-0' } })],
      [200, await api.delete(`${path}/files/${file.id}`)],
      [204, await api.call('OPTIONS', path)],
      [200, await api.get('/api/health')],
      [200, await api.get('/api/openapi.json')],
      [200, await api.delete(path)],
    ];
    for (const [status, response] of statuses) assert.equal(response.status, status, response.text);
  });

  it('[API-15] has the headers of all responses, and none of them twice', async (t) => {
    const { api, port } = await sharedServer(t);
    const room = await api.room();
    const paths = new Set(Object.values<Endpoint>(endpoints).map(({ path }) => path.replace(':roomId', room)));
    for (const path of [...paths, '/api/nothing', '/docs/']) {
      for (const method of ['GET', 'OPTIONS', 'POST', 'PUT']) {
        const names = await headerNames(port, method, path);
        assert.deepEqual(names, [...new Set(names)], `${method} ${path}`);
        for (const name of ['x-content-type-options', 'referrer-policy', 'x-request-id'])
          assert.ok(names.includes(name), `${method} ${path}: ${name}`);
      }
    }
  });

  it('[API-10] has timestamps in UTC with milliseconds, even if those are zero', async (t) => {
    const { api, clock } = await startTestServer(t);
    const form = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
    for (const ms of [0, 7, 993]) {
      clock.advance(ms);
      const { roomId, expiresAt } = (await api.post('/api/rooms')).json;
      const { timestamp } = (await api.post(`/api/rooms/${roomId}/content`, { json: { content: '' } })).json;
      await uploaded(api, roomId);
      const [{ uploadedAt }] = (await api.get(`/api/rooms/${roomId}/files`)).json.files;
      const health = (await api.get('/api/health')).json.timestamp;
      for (const moment of [expiresAt, timestamp, uploadedAt, health]) assert.match(moment, form);
      assert.equal(Date.parse(timestamp), clock.now);
      assert.equal(Date.parse(uploadedAt), clock.now);
      assert.equal(Date.parse(expiresAt), clock.now + 86_400_000);
    }
  });
});

function headerNames(port: number, method: string, path: string): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const asked = { host: '127.0.0.1', port, method, path, headers: { accept: 'text/html' } };
    const sent = request(asked, ({ rawHeaders }) => {
      resolve(rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase()));
      sent.destroy();
    });
    sent.on('error', reject).end();
  });
}

async function assertDegraded({ api, clock }: TestServer): Promise<void> {
  const { status, json } = await api.get('/api/health');
  assert.equal(status, 503);
  assert.deepEqual(json, { status: 'degraded', timestamp: new Date(clock.now).toISOString(), uptime: 0 });
}

async function uploaded(api: TestServer['api'], room: string): Promise<{ id: string; url: string }> {
  const url = (await api.upload(room, 'a.txt', 'abc')).json.fileUrl;
  return { url, id: url.split('/').at(-2) };
}

function idsOf({ json }: ApiResponse): string[] {
  return json.files.map(({ fileId }: { fileId: string }) => fileId);
}
