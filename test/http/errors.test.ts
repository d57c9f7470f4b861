/** Errors: one format, the right status, no internal details. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { endpoints } from '../../src/protocol/endpoints.ts';
import { type ErrorCode, errorCodes } from '../../src/protocol/error-codes.ts';
import { adminEnv, adminToken } from '../support/admin.ts';
import type { ApiResponse } from '../support/api.ts';
import { assertError } from '../support/assert-error.ts';
import { breakStore } from '../support/break-store.ts';
import { requestLines, requestRaw } from '../support/raw-http.ts';
import { openRawSocket, requestHead } from '../support/raw-socket.ts';
import { createSealedRoom, SealedReplica } from '../support/sealed-room.ts';
import { sharedServer, startTestServer, type TestServer } from '../support/server.ts';
import { inspectStore } from '../support/store-inspector.ts';
import { removeUploadFolder } from '../support/stored-blobs.ts';

interface Occasion {
  status: number;
  env?: Record<string, string>;
  /** Whether it breaks the server or sets its clock, so that other tests cannot share it. */
  needsOwnServer?: true;
  meet: (server: TestServer, t: TestContext) => Promise<ApiResponse>;
}

const json = { 'content-type': 'application/json' };

const foreignHandshake = requestLines(
  'GET /api/rooms/7KQ2MX/live HTTP/1.1',
  'Host: localhost',
  'Upgrade: websocket',
  'Connection: Upgrade',
  'Origin: https://evil.example',
);

const tus = { 'tus-resumable': '1.0.0' };

/** Starts an upload, and continues it with one byte and further headers. */
async function continueUpload({ api }: TestServer, headers: Record<string, string>): Promise<ApiResponse> {
  const { headers: created } = await api.post(`/api/rooms/${await api.room()}/uploads`, {
    headers: { ...tus, 'upload-length': '9' },
  });
  const { pathname } = new URL(created.get('location') ?? '');
  const patch = { ...tus, 'content-type': 'application/offset+octet-stream', 'upload-offset': '0' };
  return api.call('PATCH', pathname, { headers: { ...patch, ...headers }, body: 'x' });
}

/** Returns the id of a link to a new room. */
async function createLink({ api }: TestServer, role: 'read' | 'drop'): Promise<string> {
  const { json } = await api.post(`/api/rooms/${await api.room()}/links`, { json: { role } });
  return json.linkId;
}

/** Uploads a file, and claims it twice. Returns both responses. */
async function claimTwice({ api }: TestServer, query: string): Promise<[ApiResponse, ApiResponse]> {
  const room = await api.room();
  const { json: uploaded } = await api.post(`/api/rooms/${room}/upload?fileName=a&${query}`, {
    body: 'abc',
    headers: { 'content-type': 'text/plain' },
  });
  const claim = () => api.post(`/api/rooms/${room}/files/${uploaded.fileUrl.split('/').at(-2)}/claim`);
  return [await claim(), await claim()];
}

/** Looks at an encrypted room with a wrong key, several times. Returns the last response. */
async function lookWithWrongKey({ api }: TestServer, times: number): Promise<ApiResponse> {
  const { code } = await createSealedRoom(api);
  const look = () => api.get(`/api/rooms/${code}`, { headers: { 'x-room-auth': 'A'.repeat(43) } });
  for (let n = 1; n < times; n++) await look();
  return look();
}

/** Creates webhooks of a room. Returns the last response. */
async function createWebhooks({ api }: TestServer, times: number): Promise<ApiResponse> {
  const room = await api.room();
  const create = () => api.post(`/api/rooms/${room}/webhooks`, { json: { url: 'https://hooks.example.org/' } });
  for (let n = 1; n < times; n++) await create();
  return create();
}

/** Sends sealed edits to an encrypted room, one after another. Returns the last response. */
async function editSealed({ api }: TestServer, ...changes: object[]): Promise<ApiResponse> {
  const room = await createSealedRoom(api);
  const replica = new SealedReplica(room);
  let last: ApiResponse | undefined;
  for (const change of changes) {
    const edit = replica.insert('x');
    last = await api.patch(`/api/rooms/${room.code}/content`, { json: { ...edit, ...change }, ...room.access });
    if (last.status === 200) replica.apply({ ...edit, version: replica.version + 1 });
  }
  return last as ApiResponse;
}

const passwordEnv = { POPROOM_CREATE: 'password', POPROOM_CREATE_PASSWORD: 'correct horse battery' };

/** One real occasion for each code. */
const occasions: Record<ErrorCode, Occasion> = {
  VALIDATION_FAILED: { status: 400, meet: ({ api }) => api.post('/api/rooms', { json: { pin: 1 } }) },
  INVALID_JSON: { status: 400, meet: ({ api }) => api.post('/api/rooms', { body: '{', headers: json }) },
  PIN_REQUIRED: { status: 401, meet: async ({ api }) => api.get(`/api/rooms/${await api.room({ pin: '0427' })}`) },
  KEY_REQUIRED: {
    status: 401,
    meet: async ({ api }) => api.get(`/api/rooms/${(await createSealedRoom(api)).code}`),
  },
  KEY_INCORRECT: { status: 403, meet: (server) => lookWithWrongKey(server, 1) },
  KEY_LOCKED: { status: 429, meet: (server) => lookWithWrongKey(server, 6) },
  EDIT_CONFLICT: { status: 409, meet: (server) => editSealed(server, { baseVersion: 5 }) },
  ENCRYPTION_REQUIRED: { status: 400, meet: (server) => editSealed(server, { sealed: 'plain' }) },
  BASE_VERSION_REQUIRED: { status: 428, meet: (server) => editSealed(server, { baseVersion: undefined }) },
  COMPACTION_REQUIRED: {
    status: 409,
    env: { POPROOM_CONTENT_MAX: '200' },
    meet: (server) => editSealed(server, {}, {}, {}, {}, {}),
  },
  READ_ONLY: {
    status: 403,
    meet: async (server) => server.api.delete(`/api/rooms/${await createLink(server, 'read')}`),
  },
  DROP_ONLY: {
    status: 403,
    meet: async (server) => server.api.get(`/api/rooms/${await createLink(server, 'drop')}/content`),
  },
  TOO_MANY_REPORTS: {
    status: 409,
    env: { POPROOM_ABUSE_CONTACT: 'abuse@example.org', POPROOM_ADMIN_TOKEN: 'a token that only operators have' },
    async meet({ api }) {
      const report = async () => api.post(`/api/rooms/${await api.room()}/reports`, { json: { reason: 'other' } });
      for (let n = 0; n < 10; n++) await report();
      return report();
    },
  },
  TOO_MANY_LINKS: {
    status: 409,
    async meet({ api }) {
      const room = await api.room();
      const create = () => api.post(`/api/rooms/${room}/links`, { json: { role: 'read' } });
      for (let n = 0; n < 20; n++) await create();
      return create();
    },
  },
  API_KEY_REQUIRED: {
    status: 401,
    env: { POPROOM_REQUIRE_API_KEY: 'true' },
    meet: ({ api }) => api.post('/api/rooms'),
  },
  INVALID_API_KEY: { status: 401, meet: ({ api }) => api.get('/api/health', { headers: { 'x-api-key': 'x' } }) },
  PASSWORD_REQUIRED: { status: 401, env: passwordEnv, meet: ({ api }) => api.post('/api/rooms') },
  PASSWORD_INCORRECT: {
    status: 403,
    env: passwordEnv,
    meet: ({ api }) => api.post('/api/create-token', { json: { password: 'wrong' } }),
  },
  SIGN_IN_REQUIRED: {
    status: 403,
    env: { POPROOM_CREATE: 'proxy', POPROOM_TRUSTED_PROXIES: '127.0.0.1' },
    meet: ({ api }) => api.post('/api/rooms'),
  },
  INVALID_ADMIN_TOKEN: {
    status: 401,
    env: adminEnv,
    meet: ({ api }) => api.get('/api/admin/numbers'),
  },
  WEBHOOK_NOT_ALLOWED: { status: 403, meet: (server) => createWebhooks(server, 1) },
  TOO_MANY_WEBHOOKS: {
    status: 409,
    env: { POPROOM_WEBHOOK_HOSTS: 'hooks.example.org' },
    meet: (server) => createWebhooks(server, 6),
  },
  ADDRESS_BLOCKED: {
    status: 403,
    env: adminEnv,
    async meet({ api }) {
      const headers = { authorization: `Bearer ${adminToken}` };
      const range = { range: '198.51.100.0/24', reason: 'a test', expiresIn: 60 };
      await api.post('/api/admin/blocks', { json: range, headers });
      return api.get('/api/health', { from: '198.51.100.7' });
    },
  },
  PIN_INCORRECT: {
    status: 403,
    meet: async ({ api }) => api.get(`/api/rooms/${await api.room({ pin: '0427' })}`, { pin: '9999' }),
  },
  INVALID_TICKET: {
    status: 403,
    meet: async ({ api }) => api.get(`/api/rooms/${await api.room()}/files.zip?ticket=x`),
  },
  ROOM_NOT_FOUND: { status: 404, meet: ({ api }) => api.get('/api/rooms/7KQ2MX') },
  FILE_NOT_FOUND: { status: 404, meet: ({ api }) => api.get(`/files/${'0'.repeat(32)}/a.txt`) },
  UPLOAD_NOT_FOUND: {
    status: 404,
    meet: async ({ api }) =>
      api.call('DELETE', `/api/rooms/${await api.room()}/uploads/${'0'.repeat(32)}`, { headers: tus }),
  },
  NOT_FOUND: { status: 404, meet: ({ api }) => api.get('/nothing') },
  METHOD_NOT_ALLOWED: { status: 405, meet: ({ api }) => api.call('PUT', '/api/rooms') },
  ROOM_EXPIRED: {
    status: 410,
    needsOwnServer: true,
    async meet({ api, clock }) {
      const room = await api.room({ expiresIn: 60 });
      clock.advance(60_000);
      return api.get(`/api/rooms/${room}`);
    },
  },
  ONE_TIME_FILE: {
    status: 409,
    async meet(server) {
      const [{ json: claimed }] = await claimTwice(server, 'once=true');
      return server.api.get(new URL(claimed.url).pathname);
    },
  },
  FILE_CLAIMED: { status: 409, meet: async (server) => (await claimTwice(server, 'once=true'))[1] },
  NOT_ONE_TIME_FILE: { status: 409, meet: async (server) => (await claimTwice(server, ''))[0] },
  CLAIM_NOT_FOUND: {
    status: 404,
    meet: async ({ api }) => api.delete(`/api/rooms/${await api.room()}/claims/${'0'.repeat(32)}`),
  },
  UPLOAD_CONFLICT: { status: 409, meet: (server) => continueUpload(server, { 'upload-offset': '5' }) },
  REQUEST_IN_PROGRESS: {
    status: 409,
    async meet({ api, port }, t) {
      const path = `/api/rooms/${await api.room()}/upload`;
      const headers = { 'X-File-Name': 'a', 'Content-Type': 'text/plain', 'Idempotency-Key': 'in-progress-00001' };
      const first = await openRawSocket(t, port);
      await first.send(requestHead('POST', path, { ...headers, 'Content-Length': 2, Expect: '100-continue' }));
      assert.equal((await first.response()).status, 100);
      const response = await api.post(path, { headers, body: 'ab' });
      first.destroy();
      return response;
    },
  },
  IDEMPOTENCY_KEY_REUSED: {
    status: 422,
    async meet({ api }) {
      const headers = { 'idempotency-key': 'used-again-000001' };
      await api.post('/api/rooms', { json: {}, headers });
      return api.post('/api/rooms', { json: { name: 'other' }, headers });
    },
  },
  UNSUPPORTED_VERSION: {
    status: 412,
    meet: async ({ api }) => api.post(`/api/rooms/${await api.room()}/uploads`, { headers: { 'upload-length': '1' } }),
  },
  CHECKSUM_MISMATCH: {
    status: 460,
    meet: (server) => continueUpload(server, { 'upload-checksum': `md5 ${Buffer.alloc(16).toString('base64')}` }),
  },
  VERSION_CONFLICT: {
    status: 412,
    meet: async ({ api }) =>
      api.post(`/api/rooms/${await api.room()}/content`, { json: { content: '' }, headers: { 'if-match': '"5"' } }),
  },
  CONTENT_TOO_LARGE: {
    status: 413,
    env: { POPROOM_CONTENT_MAX: '1' },
    meet: async ({ api }) => api.post(`/api/rooms/${await api.room()}/content`, { json: { content: 'ab' } }),
  },
  FILE_TOO_LARGE: {
    status: 413,
    meet: async ({ api }) => api.upload(await api.room(), 'a', Buffer.alloc(10 * 1024 * 1024 + 1)),
  },
  ROOM_FULL: {
    status: 413,
    env: { POPROOM_FREE_LIMIT: '0' },
    async meet({ api }) {
      const room = await api.room();
      await Promise.all(Array.from({ length: 100 }, () => api.upload(room, 'a', '')));
      return api.upload(room, 'a', 'abc');
    },
  },
  QUOTA_EXCEEDED: {
    status: 413,
    env: { POPROOM_CLIENT_MAX_BYTES: '2' },
    meet: async ({ api }) => api.upload(await api.room(), 'a', 'abc'),
  },
  UPGRADE_REQUIRED: { status: 426, meet: ({ api }) => api.get('/api/rooms/7KQ2MX/live') },
  ORIGIN_NOT_ALLOWED: { status: 403, meet: ({ port }, t) => requestRaw(t, port, foreignHandshake) },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, meet: ({ api }) => api.post('/api/rooms', { body: 'x' }) },
  RATE_LIMITED: {
    status: 429,
    env: { POPROOM_FREE_LIMIT: '1' },
    async meet({ api }) {
      await api.get('/api/health');
      return api.get('/api/health');
    },
  },
  PIN_LOCKED: {
    status: 429,
    async meet({ api }) {
      const room = await api.room({ pin: '0427' });
      for (let tries = 0; tries < 5; tries++) await api.get(`/api/rooms/${room}`, { pin: '9999' });
      return api.get(`/api/rooms/${room}`, { pin: '9999' });
    },
  },
  INTERNAL: {
    status: 500,
    needsOwnServer: true,
    async meet(server) {
      const room = await server.api.room();
      await removeUploadFolder(server);
      return server.api.upload(room, 'a', 'abc');
    },
  },
  UNAVAILABLE: {
    status: 503,
    needsOwnServer: true,
    async meet(server) {
      await breakStore(server);
      return server.api.post('/api/rooms');
    },
  },
  STORAGE_FULL: {
    status: 507,
    env: { POPROOM_MIN_FREE_DISK: '999999GiB' },
    meet: async ({ api }) => api.upload(await api.room(), 'a', 'abc'),
  },
};

describe('an error', () => {
  it('[ERR-7] has the request id that it was given, if it is short and harmless', async (t) => {
    const server = await startTestServer(t);
    const ask = (id: string) => server.api.get('/api/nothing', { headers: { 'x-request-id': id } });
    for (const id of ['a', 'Trace_1.2-3', 'x'.repeat(64)]) {
      const { json, headers } = await ask(id);
      assert.deepEqual([json.requestId, headers.get('x-request-id')], [id, id]);
    }
    assert.match(server.logged(), /"requestId":"a"/, 'of the first one; others share a line');
    for (const id of ['', 'a b', 'x'.repeat(65), '"quoted"', '{}', 'a,b', 'é']) {
      const { json, headers } = await ask(id);
      assert.match(json.requestId, /^[0-9a-z]{8}-[0-9a-z]+$/, id);
      assert.equal(headers.get('x-request-id'), json.requestId);
    }
  });

  it('[ERR-8] has the trace id of a valid traceparent in its log line, and nowhere else', async (t) => {
    const server = await startTestServer(t);
    const span = '00f067aa0ba902b7-01';
    const idOf = (n: number) => `4bf92f3577b34da6a3ce929d0e0e47${String(n).padStart(2, '0')}`;
    const ask = async (traceparent: string, requestId: string) => {
      const { text, headers } = await server.api.get('/api/nothing', {
        headers: { traceparent, tracestate: 'vendor=1', 'x-request-id': requestId },
      });
      assert.doesNotMatch(text + JSON.stringify([...headers]), /4bf92f3577b34da6/);
      return new RegExp(`"requestId":"${requestId}"(,"traceId":"([^"]*)")?`).exec(server.logged())?.[2];
    };
    for (const [n, given] of [
      `00-${idOf(1)}-${span}`,
      `01-${idOf(2)}-${span}`,
      `cc-${idOf(3)}-${span}-more`,
    ].entries()) {
      assert.equal(await ask(given, `valid${n}`), idOf(n + 1));
    }
    const id = idOf(9);
    const invalid = ['', id, `ff-${id}-${span}`, `00-${id.toUpperCase()}-${span}`, `00-${id}-${span}-more`];
    invalid.push(
      `00-${'0'.repeat(32)}-${span}`,
      `00-${id}-${'0'.repeat(16)}-01`,
      `01-${id}-${span}${'x'.repeat(9000)}`,
    );
    invalid.push(`00-${id}-${span}, 00-${id}-${span}`, `00-${id}"-${span}`);
    for (const [n, given] of invalid.entries()) assert.equal(await ask(given, `invalid${n}`), undefined, given);
  });

  for (const [code, { status, env, needsOwnServer, meet }] of Object.entries(occasions)) {
    it(`[ERR-1] has the common format and the status of its code: ${status} ${code}`, async (t) => {
      const response = await meet(await (needsOwnServer ? startTestServer : sharedServer)(t, env), t);
      assertError(response, status, code);
      const asksToWait = [429, 503].includes(status) || ['FILE_CLAIMED', 'REQUEST_IN_PROGRESS'].includes(code);
      assert.equal(response.headers.has('retry-after'), asksToWait);
      assert.equal(response.headers.has('allow'), status === 405);
    });
  }

  it('[ERR-1] is provoked here for every code', () => {
    assert.deepEqual(Object.keys(occasions).sort(), Object.keys(errorCodes).sort());
  });

  it('[ERR-1] has the id of its request, which is unique', async (t) => {
    const { api } = await sharedServer(t);
    const ids = new Set<string>();
    for (let n = 0; n < 20; n++) ids.add((await api.get('/api/nothing')).json.requestId);
    assert.equal(ids.size, 20);
  });

  it('[ERR-1] is reported to HEAD only by its status', async (t) => {
    const { api } = await sharedServer(t);
    const { status, text, headers } = await api.call('HEAD', '/api/rooms/7KQ2MX');
    assert.equal(status, 404);
    assert.equal(text, '');
    assert.ok(Number(headers.get('content-length')) > 0);
  });
});

describe('a path', () => {
  it('[ERR-4] that is unknown returns 404 NOT_FOUND, whatever the method', async (t) => {
    const { api } = await sharedServer(t);
    const unknown = ['/api', '/api/', '/api/room', '/api/rooms/', '/API/health', '/api/health/', '/api/health/x'];
    const deeper = [
      '/api/rooms/x/y',
      '/api/rooms/x/content/',
      '/api/rooms/x/files/y/z',
      '/files',
      '/files/x',
      '/livez/',
    ];
    const tricks = ['/api//health', '/api/rooms/x/%2e%2e', '/favicon', '/.env', '/%', '/%00'];
    for (const path of [...unknown, ...deeper, ...tricks, '/constructor', '/__proto__', '/api/rooms/x/toString']) {
      for (const method of ['GET', 'POST', 'DELETE', 'PUT', 'PATCH', 'PROPFIND', 'OPTIONS']) {
        assertError(await api.call(method, path), 404, 'NOT_FOUND', `${method} ${path}`);
      }
    }
  });

  it('[ERR-4] that is known returns 405 METHOD_NOT_ALLOWED for other methods, and lists the supported ones', async (t) => {
    const { api, port } = await sharedServer(t, adminEnv);
    const others = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND', 'MKCOL', 'TRACE', 'QUERY', 'LINK', 'M-SEARCH'];
    for (const [path, methods] of methodsByPath()) {
      const allow = [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'];
      const refuse = async (method: string) => {
        const response = await requestRaw(
          t,
          port,
          requestLines(`${method} ${path} HTTP/1.1`, 'Host: x', 'Connection: close'),
        );
        assert.deepEqual(assertError(response, 405, 'METHOD_NOT_ALLOWED', `${method} ${path}`), { allow });
        assert.equal(response.headers.get('allow'), allow.join(', '));
      };
      await Promise.all(others.filter((other) => !methods.includes(other)).map(refuse));
      if (!methods.includes('GET') && !methods.includes('HEAD'))
        assert.equal((await api.call('HEAD', path)).status, 405);
    }
  });
});

describe('an internal failure', () => {
  it('[ERR-6] does not reveal its cause, which is in the log under the request id', async (t) => {
    const server = await startTestServer(t);
    const { api, logged } = server;
    const room = await api.room();
    await removeUploadFolder(server);
    const uploaded = await api.upload(room, 'a.txt', 'abc');
    const said = await (await inspectStore(server)).corrupt('7KQ2MX');
    const looked = await api.get('/api/rooms/7KQ2MX');
    for (const [response, cause] of [
      [uploaded, 'ENOENT'],
      [looked, said],
    ] as const) {
      assert.deepEqual(assertError(response, 500, 'INTERNAL'), {});
      assertSaysNothing(response, server);
      assert.match(loggedAt(logged(), response), new RegExp(cause));
    }
  });

  it('[ERR-6] does not reveal its cause if a write fails, either', async (t) => {
    const server = await startTestServer(t);
    const cause = await breakStore(server);
    const response = await server.api.post('/api/rooms');
    assertError(response, 503, 'UNAVAILABLE');
    assertSaysNothing(response, server);
    assert.match(loggedAt(server.logged(), response), cause);
  });

  it('[ERR-6] does not stop the server: requests that are not affected work', async (t) => {
    const server = await startTestServer(t);
    const { api } = server;
    const room = await api.room();
    await removeUploadFolder(server);
    await api.upload(room, 'a.txt', 'abc');
    assert.equal((await api.post(`/api/rooms/${room}/content`, { json: { content: 'x' } })).status, 200);
    assert.equal((await api.get(`/api/rooms/${room}/content`)).json.content, 'x');
  });

  it('[ERR-6] is the only thing that is logged as an error', async (t) => {
    const { api, logged } = await startTestServer(t);
    await api.get('/api/rooms/7KQ2MX');
    await api.post('/api/rooms', { body: '{', headers: json });
    assert.ok(!logged().includes('"level":"error"'));
  });
});

/** The methods of each path, with something in the place of its parameters. */
function methodsByPath(): Map<string, string[]> {
  const byPath = new Map<string, string[]>();
  for (const { method, path } of Object.values(endpoints)) {
    const filled = path.replace(/:\w+/g, 'x');
    byPath.set(filled, [...(byPath.get(filled) ?? []), method]);
  }
  return byPath;
}

function assertSaysNothing({ text, headers }: ApiResponse, { folder }: TestServer): void {
  const said = text + JSON.stringify([...headers]);
  const means = ['sqlite', 'SQL', 'table', 'redis', 'Redis', 'script', 'WRONGTYPE', 'ECONNREFUSED', 'ENOENT'];
  for (const inside of [folder, ...means, 'at ', '.ts', 'node:', 'Error:']) {
    assert.ok(!said.includes(inside), `${inside} is said in ${said}`);
  }
}

/** The error line of a request in the log. */
function loggedAt(log: string, { json }: ApiResponse): string {
  const found = log.split('\n').find((line) => line.includes(json.requestId) && line.includes('"level":"error"'));
  return found ?? 'nothing';
}
