/** Rejected WebSocket handshakes are answered, logged and counted like other requests. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertError } from '../support/assert-error.ts';
import { connect } from '../support/device.ts';
import { requestLines, requestRaw } from '../support/raw-http.ts';
import { sharedServer, startTestServer, type TestServer } from '../support/server.ts';

const route = '/api/rooms/:roomId/live';
const handshake = (room: string, ...more: string[]) =>
  requestLines(
    `GET /api/rooms/${room}/live HTTP/1.1`,
    'Host: localhost',
    'Upgrade: websocket',
    'Connection: Upgrade',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    ...more,
  );

async function counted({ api }: TestServer, status: number): Promise<string | undefined> {
  const line = `_count{method="GET",route="${route}",status="${status}"} `;
  return (await api.get('/metrics')).text.split(line)[1]?.split('\n', 1)[0];
}

describe('a refused upgrade', () => {
  it('[RUN-5] [RUN-3] [ERR-1] has the common headers, a line in the log and is counted in the metrics', async (t) => {
    const server = await startTestServer(t);
    const room = await server.api.room();
    const response = await requestRaw(t, server.port, handshake(room, 'Origin: https://evil.example'));
    assert.equal(assertError(response, 403, 'ORIGIN_NOT_ALLOWED').field, 'Origin');
    assert.equal(response.headers.get('x-content-type-options'), 'nosniff');
    assert.equal(response.headers.get('referrer-policy'), 'no-referrer');
    assert.equal(response.headers.get('keep-alive'), null);
    const line = server
      .logged()
      .split('\n')
      .find((candidate) => candidate.includes(response.json.requestId));
    const { ms, client, ...noted } = JSON.parse(line ?? '{}');
    const { requestId } = response.json;
    const refusal = { level: 'info', message: 'request', code: 'ORIGIN_NOT_ALLOWED' };
    assert.deepEqual(noted, { ...refusal, requestId, method: 'GET', route, status: 403 });
    assert.ok(ms >= 0);
    assert.match(client, /^[0-9a-f]{12}$/);
    assert.equal(await counted(server, 403), '1');
  });

  it('[ERR-7] [ERR-8] has the request id and the trace id that it was given', async (t) => {
    const server = await startTestServer(t);
    const trace = 'traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const given = handshake('7KQ2MX', 'Origin: https://evil.example', 'X-Request-Id: from-proxy_1.2', trace);
    const { json, headers } = await requestRaw(t, server.port, given);
    assert.deepEqual([json.requestId, headers.get('x-request-id')], ['from-proxy_1.2', 'from-proxy_1.2']);
    assert.match(server.logged(), /"requestId":"from-proxy_1.2","traceId":"4bf92f3577b34da6a3ce929d0e0e4736"/);
  });

  it('[LIVE-27] returns 426 with the version that the server supports', async (t) => {
    const server = await sharedServer(t);
    const room = await server.api.room();
    const other = handshake(room).replace('Version: 13', 'Version: 8');
    const without = handshake(room).replace('Sec-WebSocket-Version: 13\r\n', '');
    const plain = requestLines(`GET /api/rooms/${room}/live HTTP/1.1`, 'Host: localhost');
    for (const request of [other, without, plain]) {
      const response = await requestRaw(t, server.port, request);
      assertError(response, 426, 'UPGRADE_REQUIRED');
      assert.equal(response.headers.get('sec-websocket-version'), '13');
      assert.equal(response.headers.get('upgrade'), 'websocket');
      assert.equal(response.headers.get('connection'), 'Upgrade, close');
    }
    const malformed = handshake(room).replace('dGhlIHNhbXBsZSBub25jZQ==', 'short');
    assertError(await requestRaw(t, server.port, malformed), 400, 'VALIDATION_FAILED');
  });

  it('[RUN-3] is counted separately from accepted ones', async (t) => {
    const server = await startTestServer(t);
    const room = await server.api.room();
    await connect(t, server.url, room);
    await connect(t, server.url, room);
    assert.deepEqual([await counted(server, 101), await counted(server, 400)], ['2', undefined]);
  });
});
