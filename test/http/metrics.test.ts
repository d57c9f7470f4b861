/** The metrics, from the view of an operator. */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { describe, it, type TestContext } from 'node:test';
import { readConfig } from '../../src/config.ts';
import { definitions } from '../../src/metrics/definitions.ts';
import { endpoints } from '../../src/protocol/endpoints.ts';
import { assertError } from '../support/assert-error.ts';
import { breakFileStore, breakStore } from '../support/break-store.ts';
import { connect, joinRoom } from '../support/device.ts';
import { isDistributed } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import { readSeries, sumOf } from '../support/metrics.ts';
import { requestRaw } from '../support/raw-http.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { sendPart, startUpload } from '../support/tus.ts';

const requestCount = 'poproom_http_request_duration_seconds_count';

/** A reader of the current metrics. */
function metricsOf({ api }: TestServer) {
  return async (name: string, labels: Record<string, string> = {}) => sumOf(await readSeries(api), name, labels);
}

/** Opens the event stream of a room, and waits for its first bytes. */
async function openEvents(t: TestContext, { url }: TestServer, room: string) {
  const aborter = new AbortController();
  t.after(() => aborter.abort());
  const response = await fetch(`${url}/api/rooms/${room}/events`, { signal: aborter.signal });
  await response.body?.getReader().read();
  return { close: () => aborter.abort() };
}

describe('the metrics', () => {
  it('[MON-1] name the version and the stores, and contain everything that is documented', async (t) => {
    const server = await startTestServer(t);
    const { api } = server;
    const room = await api.room();
    const device = await joinRoom(t, server.url, room);
    await device.next('snapshot');
    await device.leave();
    const metric = metricsOf(server);
    await eventually('the channel is closed', async () => await metric('poproom_live_channel_duration_seconds_count'));
    const series = await readSeries(api);
    const stores = isDistributed ? { store: 'redis', files: 's3' } : { store: 'sqlite', files: 'disk' };
    assert.equal(sumOf(series, 'poproom_build_info', { version: '0.1.0', ...stores }), 1);
    const { certificateExpiry, databaseBytes, ...expected } = definitions;
    const { text } = await api.get('/metrics');
    const present = new Set([...text.matchAll(/^# TYPE (poproom_\w+)/gm)].map(([, name]) => name));
    if (!isDistributed) assert.ok(present.delete(databaseBytes.name));
    assert.deepEqual(
      [...present].sort(),
      Object.values(expected)
        .map(({ name }) => name)
        .sort(),
    );
    for (const { name, labels, type } of Object.values(expected)) {
      const found = series.find((one) => one.name === (type === 'histogram' ? `${name}_count` : name));
      assert.deepEqual(Object.keys(found?.labels ?? {}).sort(), [...labels].sort(), name);
    }
    assert.equal(sumOf(series, 'poproom_unreadable_metrics'), 0);
  });

  it('[MON-2] count a request when its response starts, and live channels separately', async (t) => {
    const server = await startTestServer(t);
    const metric = metricsOf(server);
    const room = await server.api.room();
    const events = await openEvents(t, server, room);
    const route = '/api/rooms/:roomId/events';
    assert.equal(await metric(requestCount, { method: 'GET', route, status: '200' }), 1);
    assert.equal(await metric('poproom_live_channels'), 1);
    assert.equal(await metric('poproom_live_channels_opened_total', { transport: 'events' }), 1);
    events.close();
    const closed = 'poproom_live_channel_duration_seconds_count';
    await eventually('it is closed', () => metric(closed, { transport: 'events', reason: 'left' }));
    assert.equal(await metric(requestCount, { method: 'GET', route, status: '200' }), 1);
  });

  it('[MON-2] show how long live messages take, and why channels end', async (t) => {
    const server = await startTestServer(t);
    const metric = metricsOf(server);
    const room = await server.api.room();
    const device = await joinRoom(t, server.url, room, { edits: true });
    device.send({ type: 'edit', edits: [{ from: 0, to: 0, insert: 'hi' }], baseVersion: 0, ref: 'a' });
    await device.next('written');
    const handled = 'poproom_live_message_duration_seconds_count';
    await eventually('the edit is measured', async () => (await metric(handled, { type: 'edit' })) === 1);
    assert.equal(await metric(handled, { type: 'join' }), 1);
    await server.api.delete(`/api/rooms/${room}`);
    await device.closed;
    const closed = 'poproom_live_channel_duration_seconds_count';
    await eventually('it is closed', () => metric(closed, { transport: 'websocket', reason: 'deleted' }));
  });

  it('[MON-2] count requests by their method, and unknown methods together', async (t) => {
    const server = await startTestServer(t);
    const room = await server.api.room();
    const path = `/api/rooms/${room}`;
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND', 'REPORT']) {
      await server.api.call(method, method === 'DELETE' ? `${path}/none` : path, { headers: { origin: server.url } });
    }
    const metric = metricsOf(server);
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      assert.ok(await metric(requestCount, { method }), method);
    }
    assert.equal(await metric(requestCount, { method: 'other', route: '/api/rooms/:roomId', status: '405' }), 2);
  });

  it('[MON-3] count refusals by error code and by the limit that was reached', async (t) => {
    const server = await startTestServer(t, { POPROOM_CLIENT_MAX_BYTES: '10', POPROOM_FREE_LIMIT: '4' });
    const refused = (code: string, reason: string, transport = 'http') =>
      metricsOf(server)('poproom_refusals_total', { transport, code, reason });
    const room = await server.api.room({ pin: '4711' });
    const headers = { 'x-forwarded-for': '203.0.113.9' };
    assert.equal(await refused('ROOM_NOT_FOUND', ''), 0);
    await server.api.get('/api/rooms/ZZZZZZ');
    assert.equal(await refused('ROOM_NOT_FOUND', ''), 1);
    await server.api.upload(room, 'large.bin', 'more than ten bytes', { pin: '4711' });
    assert.equal(await refused('QUOTA_EXCEEDED', 'client'), 1);
    const device = await connect(t, server.url, room, { headers });
    device.send({ type: 'join', pin: '0000' });
    await device.closed;
    assert.equal(await refused('PIN_INCORRECT', '', 'websocket'), 1);
    for (let left = 2; left > 0; left--) await server.api.get('/api/health');
    assert.equal(await refused('RATE_LIMITED', 'requests'), 1);
    await requestRaw(t, server.port, 'nonsense\r\n\r\n');
    assert.equal(await refused('VALIDATION_FAILED', 'malformed'), 1);
  });

  it('[MON-4] count uploads and their bytes, and measure stores, files and disks', async (t) => {
    const server = await startTestServer(t);
    const { api } = server;
    const room = await api.room();
    const { fileUrl } = (await api.upload(room, 'a.bin', Buffer.alloc(3000))).json;
    await api.get(fileUrl);
    await sendPart(api, await startUpload(api, room, 500), 0, Buffer.alloc(500));
    const series = await readSeries(api);
    const value = (name: string, labels?: Record<string, string>) => sumOf(series, name, labels) ?? Number.NaN;
    assert.equal(value('poproom_uploads_total', { kind: 'whole' }), 1);
    assert.equal(value('poproom_uploads_total', { kind: 'resumable' }), 1);
    assert.equal(value('poproom_uploaded_bytes_total'), 3500);
    assert.equal(value('poproom_stored_bytes', { state: 'stored' }), 3500);
    for (const operation of ['put', 'append', 'finish', 'open']) {
      assert.equal(value('poproom_file_operation_duration_seconds_count', { operation }), 1, operation);
    }
    for (const operation of ['admit', 'read', 'write', 'count']) {
      assert.ok(value('poproom_store_operation_duration_seconds_count', { operation }) > 0, operation);
      assert.equal(value('poproom_store_errors_total', { operation }), 0, operation);
    }
    for (const folder of isDistributed ? ['data'] : ['data', 'files']) {
      const [free, size] = [value('poproom_disk_free_bytes', { folder }), value('poproom_disk_size_bytes', { folder })];
      assert.ok(free > 0 && free <= size, folder);
    }
    if (!isDistributed) assert.ok(value('poproom_database_bytes') > 0);
  });

  it('[MON-4] show an upload while it runs, and count it as interrupted if the client ends it', async (t) => {
    const server = await startTestServer(t);
    const metric = metricsOf(server);
    const room = await server.api.room();
    const headers = { 'content-type': 'application/octet-stream', 'content-length': 100, 'x-file-name': 'a.bin' };
    const sending = request(`${server.url}/api/rooms/${room}/upload`, { method: 'POST', headers });
    sending.on('error', () => undefined);
    sending.write('first bytes');
    await eventually('the upload runs', async () => (await metric('poproom_uploads_in_progress')) === 1);
    sending.destroy();
    const interrupted = () => metric('poproom_upload_interruptions_total', { kind: 'whole' });
    await eventually('it is interrupted', async () => (await interrupted()) === 1);
    assert.equal(await metric('poproom_uploads_in_progress'), 0);
    assert.equal(await metric('poproom_file_errors_total', { operation: 'put' }), 0);
    assert.equal(await metric('poproom_uploads_total', { kind: 'whole' }), 0);
  });

  it('[MON-4] count failures of the file store apart from interrupted uploads', async (t) => {
    const server = await startTestServer(t);
    await breakFileStore(server);
    const room = await server.api.room();
    const { status } = await server.api.upload(room, 'a.bin', 'some bytes');
    assert.ok(status >= 500, `${status}`);
    const metric = metricsOf(server);
    // A folder fails when its free space is read, and a bucket when the file is sent.
    const operation = isDistributed ? 'put' : 'space';
    assert.ok(((await metric('poproom_file_errors_total', { operation })) ?? 0) > 0);
    assert.equal(await metric('poproom_upload_interruptions_total', { kind: 'whole' }), 0);
    assert.equal(await metric('poproom_readiness_check', { check: 'files' }), 0);
  });

  it('[MON-5] stay available when the store is lost, and say so', async (t) => {
    const server = await startTestServer(t);
    const room = await server.api.room();
    await breakStore(server);
    await server.api.get(`/api/rooms/${room}`);
    const series = await eventually('the store is reported as failing', async () => {
      const found = await readSeries(server.api);
      return sumOf(found, 'poproom_readiness_check', { check: 'store' }) === 0 && found;
    });
    assert.ok((sumOf(series, 'poproom_unreadable_metrics') ?? 0) > 0);
    assert.equal(sumOf(series, 'poproom_rooms'), undefined);
    assert.ok((sumOf(series, 'poproom_store_errors_total') ?? 0) > 0);
    assert.equal(sumOf(series, 'poproom_live_channels'), 0);
  });

  it('[MON-8] require the token, if the operator has set one', async (t) => {
    const token = 'a token for Prometheus';
    const { api } = await startTestServer(t, { POPROOM_METRICS_TOKEN: token });
    const withToken = (text: string) => api.get('/metrics', { headers: { authorization: `Bearer ${text}` } });
    assertError(await api.get('/metrics'), 401, 'API_KEY_REQUIRED');
    assertError(await withToken(`${token}!`), 401, 'INVALID_API_KEY');
    const { status, text } = await withToken(token);
    assert.equal(status, 200);
    assert.match(text, /^poproom_rooms 0$/m);
    assert.throws(() => readConfig({ POPROOM_METRICS_TOKEN: token }), /POPROOM_METRICS_TOKEN requires/);
    assert.throws(() => readConfig({ POPROOM_METRICS: 'true', POPROOM_METRICS_TOKEN: 'short' }), /16 characters/);
  });

  it('[MON-6] have only labels from fixed sets, whatever clients send', async (t) => {
    const server = await startTestServer(t, { POPROOM_FREE_LIMIT: '0', POPROOM_MISS_LIMIT: '0' });
    const room = await server.api.room();
    for (const name of ['one', 'two', 'three']) {
      await server.api.get(`/api/rooms/${name}?x=${name}`, { headers: { 'x-request-id': name, 'user-agent': name } });
      await server.api.get(`/${name}/${name}`);
      await server.api.call('SEARCH', `/${name}`);
    }
    const device = await joinRoom(t, server.url, room, { deviceId: 'a-stranger', deviceName: 'a stranger' });
    device.send({ type: 'unknown-type' });
    await device.next('error');
    const series = await readSeries(server.api);
    const values = (label: string) => new Set(series.flatMap(({ labels }) => labels[label] ?? []));
    const paths = new Set<string>(['none', ...Object.values(endpoints).map(({ path }) => path)]);
    assert.deepEqual(
      [...values('route')].filter((route) => !paths.has(route)),
      [],
    );
    assert.deepEqual([...values('method')].sort(), ['GET', 'POST', 'other']);
    for (const label of ['type', 'code', 'reason', 'operation', 'transport', 'kind', 'check', 'queue']) {
      for (const value of values(label)) assert.match(value, /^(?!.*(stranger|unknown|three)).*$/, label);
    }
    const ours = series.filter(({ name }) => name.startsWith('poproom_'));
    assert.ok(ours.length < 500, `${ours.length} series`);
  });
});
