/** The server from the view of supervisors, load balancers and monitoring. */
import assert from 'node:assert/strict';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { dataFolder, startProcess } from '../support/process.ts';
import { openRawSocket, requestHead } from '../support/raw-socket.ts';
import { startTestServer } from '../support/server.ts';

const allWell = { store: 'ok', files: 'ok', disk: 'ok', uploads: 'ok', sweep: 'ok', server: 'ok' };

describe('the probes', () => {
  it('[RUN-2] report that the server is live and ready', async (t) => {
    const { api } = await startProcess(t, await dataFolder(t));
    const live = await api.get('/livez');
    assert.deepEqual([live.status, live.json], [200, { status: 'ok' }]);
    const ready = await api.get('/readyz');
    assert.deepEqual([ready.status, ready.json], [200, { status: 'ready', checks: allWell }]);
  });

  it('[RUN-15] report that it is ready when only files have no space, and that uploads are full', async (t) => {
    const { api } = await startProcess(t, await dataFolder(t), { POPROOM_MIN_FREE_DISK: '900000GiB' });
    const { status, json } = await api.get('/readyz');
    assert.deepEqual([status, json], [200, { status: 'ready', checks: { ...allWell, uploads: 'full' } }]);
    assert.equal((await api.get('/livez')).status, 200);
  });

  it('[slow] [RUN-2] [API-7] report when the files are unavailable, and when they are available again', async (t) => {
    const folder = await dataFolder(t);
    const { api } = await startProcess(t, folder);
    const [files, elsewhere] = [join(folder, 'files'), join(folder, 'elsewhere')];
    await rename(files, elsewhere);
    const degraded = await api.get('/api/health');
    assert.deepEqual([degraded.status, degraded.json.status], [503, 'degraded']);
    assert.match(degraded.json.timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const { status, json } = await api.get('/readyz');
    assert.equal(status, 503);
    assert.equal(json.checks.files, 'failing');
    assert.equal((await api.get('/livez')).status, 200);
    await rename(elsewhere, files);
    assert.equal((await api.get('/api/health')).json.status, 'healthy');
    assert.equal((await api.get('/readyz')).status, 200);
  });

  it('[RUN-2] report that it is not ready when the sweep is late', async (t) => {
    const { api, clock } = await startTestServer(t);
    clock.advance(120_000);
    assert.equal((await api.get('/readyz')).status, 200);
    // The server's first sweep, a moment after its start, may come in between.
    const { json } = await eventually('the sweep is late', async () => {
      clock.advance(1 + 120_000);
      const response = await api.get('/readyz');
      return response.status === 503 && response;
    });
    assert.deepEqual(json.checks, { ...allWell, sweep: 'late' });
  });

  it('[RUN-2] [RUN-4] report that it is not ready while it stops', async (t) => {
    const server = await startProcess(t, await dataFolder(t));
    const socket = await openRawSocket(t, server.port);
    const [firstHalf, secondHalf] = halves(requestHead('GET', '/readyz'));
    await socket.send(firstHalf);
    await eventually('the server has met the request', async () => (await server.api.get('/livez')).status === 200);
    server.signal('SIGTERM');
    await eventually('the server is stopping', () => server.output().includes('"msg":"stopping"'));
    await socket.send(secondHalf);
    const { status, text, headers } = await socket.response();
    assert.deepEqual([status, headers.connection], [503, 'close']);
    assert.deepEqual(JSON.parse(text).checks, { ...allWell, server: 'stopping' });
    assert.deepEqual(await server.exit, { code: 0, signal: null });
  });
});

describe('health', () => {
  it('[slow] [API-7] returns the status, the time and the uptime', async (t) => {
    const startedBefore = Date.now();
    const { api } = await startProcess(t, await dataFolder(t));
    const { status, json } = await api.get('/api/health');
    assert.deepEqual([status, json.status], [200, 'healthy']);
    assert.ok(Date.parse(json.timestamp) >= startedBefore && Date.parse(json.timestamp) <= Date.now());
    assert.ok(json.uptime >= 0 && json.uptime <= (Date.now() - startedBefore) / 1000);
    await eventually('the time passes', async () => (await api.get('/api/health')).json.uptime > json.uptime);
  });
});

describe('the metrics', () => {
  it('[slow] [RUN-3] are disabled by default', async (t) => {
    const { api } = await startProcess(t, await dataFolder(t), { POPROOM_METRICS: '' });
    const { status, code } = await api.get('/metrics');
    assert.deepEqual([status, code], [404, 'NOT_FOUND']);
  });

  it('[RUN-3] have the Prometheus format, with route patterns and never with paths', async (t) => {
    const { api } = await startProcess(t, await dataFolder(t));
    const room = await api.room();
    await api.room();
    const { fileUrl } = (await api.upload(room, 'name.txt', 'x')).json;
    await api.get(fileUrl);
    await api.get(`/api/rooms/${room}`);
    await api.get('/api/rooms/ZZZZZZ');
    await api.get('/no/such/path');
    await api.call('PUT', `/api/rooms/${room}`);
    await api.call('BREW', '/coffee').catch(() => undefined);
    const { status, text, headers } = await api.get('/metrics');
    assert.equal(status, 200);
    assert.match(headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
    assert.match(text, /^# TYPE poproom_rooms gauge\npoproom_rooms 2$/m);
    assert.match(text, /^# TYPE poproom_http_request_duration_seconds histogram$/m);
    for (const line of text.split('\n').filter(Boolean)) {
      assert.match(line, /^(# (HELP|TYPE) \w+ .+|\w+({.*})? ([\d.e+-]+|Nan|\+Inf))$/);
    }

    const count = (method: string, route: string, answer: number) =>
      `poproom_http_request_duration_seconds_count{method="${method}",route="${route}",status="${answer}"} `;
    assert.ok(text.includes(`${count('POST', '/api/rooms', 201)}2\n`));
    assert.ok(text.includes(`${count('GET', '/api/rooms/:roomId', 200)}1\n`));
    assert.ok(text.includes(`${count('GET', '/api/rooms/:roomId', 404)}1\n`));
    assert.ok(text.includes(`${count('GET', '/files/:fileId/:name', 200)}1\n`));
    assert.ok(text.includes(`${count('GET', 'none', 404)}1\n`));
    assert.ok(text.includes(`${count('PUT', '/api/rooms/:roomId', 405)}1\n`));
    for (const secret of [room, 'ZZZZZZ', 'such', 'name.txt', new URL(fileUrl).pathname.split('/')[2] ?? '']) {
      assert.ok(!text.includes(secret), secret);
    }
  });
});

function halves(text: string): [string, string] {
  return [text.slice(0, text.length / 2), text.slice(text.length / 2)];
}
