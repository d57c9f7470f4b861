/** Webhooks: what they report, how requests are signed and repeated, and what they never contain. */
import assert from 'node:assert/strict';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { describe, it, type TestContext } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { createClient } from '../../src/client/index.ts';
import { createWebhookDocuments } from '../../src/core/webhooks/document.ts';
import type { ApiResponse } from '../support/api.ts';
import { assertError } from '../support/assert-error.ts';
import { eventually } from '../support/eventually.ts';
import { listenOnFreePort } from '../support/listen.ts';
import { createSealedRoom } from '../support/sealed-room.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const second = 1000;
const minute = 60 * second;

describe('a webhook', () => {
  it('[HOOK-1] [HOOK-4] is created with a secret that is shown once, and listed by its host only', async (t) => {
    const { api, room, url, create } = await openStage(t);
    const created = (await create({ events: ['text', 'file'] })).json;
    assert.match(created.secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
    const { secret: _, ...listed } = created;
    const list = await api.get(`/api/rooms/${room}/webhooks`);
    assert.deepEqual(list.json, { webhooks: [listed] });
    assert.equal(listed.host, new URL(url).host);
    assert.ok(!list.text.includes('token'), 'the path and the query of the URL stay secret');
    assertError(await api.delete(`/api/rooms/${room}/webhooks/${'0'.repeat(32)}`), 404, 'NOT_FOUND');
    assert.equal((await api.delete(`/api/rooms/${room}/webhooks/${created.id}`)).status, 200);
    assert.deepEqual((await api.get(`/api/rooms/${room}/webhooks`)).json.webhooks, []);
  });

  it('[HOOK-1] needs a URL that the operator allows, and a room has at most five', async (t) => {
    const { api, room, url, create, receiver } = await openStage(t);
    const wrong = [
      '',
      'x',
      'ftp://127.0.0.1/',
      `http://user:pw@127.0.0.1:${receiver.port}/`,
      `${url}#x`,
      `${url}${'x'.repeat(2048)}`,
    ];
    for (const url of wrong) assert.equal(assertError(await create({ url }), 400, 'VALIDATION_FAILED').field, 'url');
    for (const events of [[], ['text', 'text'], ['other'], 'text'])
      assertError(await create({ events }), 400, 'VALIDATION_FAILED');
    for (const url of ['http://127.0.0.1/', 'http://localhost:9/', 'https://example.org/', 'http://2130706433:1/'])
      assertError(await create({ url }), 403, 'WEBHOOK_NOT_ALLOWED');
    for (let n = 0; n < 5; n++) assert.equal((await create()).status, 201);
    assertError(await create(), 409, 'TOO_MANY_WEBHOOKS');
    assertError(await api.post(`/api/rooms/${room}/webhooks`, { json: {} }), 400, 'VALIDATION_FAILED');
  });

  it('[HOOK-1] needs the PIN of the room', async (t) => {
    const { api, url } = await openStage(t);
    const at = `/api/rooms/${await api.room({ pin: '0427' })}/webhooks`;
    assertError(await api.post(at, { json: { url } }), 401, 'PIN_REQUIRED');
    assertError(await api.get(at), 401, 'PIN_REQUIRED');
    const { json } = await api.post(at, { json: { url, pin: '0427' } });
    assertError(await api.delete(`${at}/${json.id}`), 401, 'PIN_REQUIRED');
    assert.equal((await api.delete(`${at}/${json.id}`, { pin: '0427' })).status, 200);
  });

  it('[HOOK-2] [HOOK-3] reports changes of the text with link and version, signed as Standard Webhooks', async (t) => {
    const { api, server, url, receiver } = await openStage(t);
    // The library compares with the time of this machine.
    server.clock.now = Date.now();
    const room = await api.room();
    const { secret } = (await api.post(`/api/rooms/${room}/webhooks`, { json: { url } })).json;
    await api.post(`/api/rooms/${room}/content`, { json: { content: 'a secret text' } });
    const { headers, body } = await receiver.next();
    assert.ok(!body.includes('a secret text'));
    const payload = new Webhook(secret).verify(body, headers as Record<string, string>) as Payload;
    assert.deepEqual(payload, {
      type: 'text',
      timestamp: new Date(server.clock.now).toISOString(),
      data: { roomId: room, link: `${server.url}/r/${room}`, version: 1, message: 'The text changed.' },
    });
    assert.equal(headers['content-type'], 'application/json');
    assert.throws(() => new Webhook(secret).verify(`${body} `, headers as Record<string, string>));
    const listed = await eventually('the delivery is listed', async () => {
      const [webhook] = (await api.get(`/api/rooms/${room}/webhooks`)).json.webhooks;
      return webhook.lastDelivery !== undefined && webhook;
    });
    assert.equal(listed.lastError, undefined);
  });

  it('[HOOK-2] reports the text at most once in 5 seconds, and always its last change', async (t) => {
    const { api, room, server, create, receiver, nothingElse } = await openStage(t);
    await create({ events: ['text'] });
    const write = (content: string) => api.post(`/api/rooms/${room}/content`, { json: { content } });
    await write('1');
    assert.equal((await receiver.next()).payload.data.version, 1);
    for (const content of ['2', '3', '4']) await write(content);
    await nothingElse();
    server.clock.advance(5 * second);
    assert.equal((await receiver.next()).payload.data.version, 4);
    server.clock.advance(minute);
    await nothingElse();
  });

  it('[HOOK-2] reports files, devices and settings, and the end of the room', async (t) => {
    const { api, room, create, receiver } = await openStage(t);
    await create();
    const { json: file } = await api.upload(room, 'photo.jpg', 'abc');
    const added = (await receiver.next()).payload;
    assert.equal(added.type, 'file');
    assert.equal(added.data.message, 'photo.jpg was added.');
    const files = [{ fileName: 'photo.jpg', fileType: 'application/octet-stream', fileSize: 3 }];
    assert.deepEqual([added.data.filesAdded, added.data.files], [1, files]);
    await api.delete(`/api/rooms/${room}/files/${file.fileId}`);
    assert.equal((await receiver.next()).payload.data.message, 'A file was removed.');
    await api.patch(`/api/rooms/${room}`, { json: { name: 'Kitchen' }, headers: { 'x-device-id': 'phone' } });
    const events = [(await receiver.next()).payload, (await receiver.next()).payload];
    const [device, settings] = events.sort((a, b) => a.type.localeCompare(b.type));
    assert.deepEqual([device?.type, device?.data.message, device?.data.deviceCount], ['device', 'A device joined.', 1]);
    assert.deepEqual([settings?.type, settings?.data.changes, settings?.data.name], ['room', ['name'], 'Kitchen']);
    await api.delete(`/api/rooms/${room}`);
    const end = (await receiver.next()).payload;
    assert.deepEqual([end.type, end.data.ended, end.data.message], ['room', true, 'The room has ended.']);
  });

  it('[HOOK-2] sends only the events that it was created for', async (t) => {
    const { api, room, create, receiver } = await openStage(t);
    await create({ events: ['file'] });
    await api.post(`/api/rooms/${room}/content`, { json: { content: 'x' } });
    await api.upload(room, 'photo.jpg', 'abc');
    assert.equal((await receiver.next()).payload.type, 'file');
    await api.delete(`/api/rooms/${room}`);
    assert.equal(receiver.waiting(), 0);
  });

  it('[HOOK-5] of an encrypted room has no names, keys or envelopes in its requests', async (t) => {
    const { api, server, url, receiver } = await openStage(t);
    const sealed = await createSealedRoom(api);
    const at = `/api/rooms/${sealed.code}`;
    assertError(await api.post(`${at}/webhooks`, { json: { url } }), 401, 'KEY_REQUIRED');
    assert.equal((await api.post(`${at}/webhooks`, { json: { url }, ...sealed.access })).status, 201);
    const headers = { ...sealed.access.headers, 'x-device-id': 'phone' };
    await api.patch(at, { json: { expiresIn: 3600 }, headers });
    const requests = [await receiver.next(), await receiver.next()];
    for (const { body, payload } of requests) {
      assert.ok(!body.includes('pop1.') && !body.includes('name'), body);
      assert.equal(payload.data.link, `${server.url}/r/${sealed.code}`);
    }
  });

  it('[HOOK-6] [HOOK-13] [HOOK-14] is tried again with the same id, more and more seldom, for ten minutes, and members see the error', async (t) => {
    const { api, room, server, create, receiver, nothingElse } = await openStage(t);
    await create({ events: ['file'] });
    receiver.answer = (response) => response.writeHead(500).end();
    await api.upload(room, 'photo.jpg', 'abc');
    const first = await receiver.next();
    const errorOf = async () => (await api.get(`/api/rooms/${room}/webhooks`)).json.webhooks[0].lastError;
    const error = await eventually('members see the error', errorOf);
    assert.deepEqual([error.code, error.status, error.message], ['STATUS', 500, 'The host responded with status 500.']);
    const measured = (await api.get('/metrics')).text;
    assert.match(measured, /^poproom_webhook_attempts_total\{result="STATUS"\} 1$/m);
    assert.match(measured, /^poproom_webhook_attempts_total\{result="delivered"\} 0$/m);
    assert.match(measured, /^poproom_queue_length\{queue="webhooks"\} \d+$/m);
    let attempts = 1;
    for (const wait of [5, 10, 20, 40, 80, 160, 160]) {
      await eventually('the error is stored', async () => (await errorOf()).timestamp === isoNow(server));
      server.clock.advance(wait * second - 1);
      await nothingElse();
      server.clock.advance(1);
      assert.equal((await receiver.next()).headers['webhook-id'], first.headers['webhook-id']);
      attempts += 1;
    }
    assert.equal(attempts, 8);
    await eventually('the last error is stored', async () => (await errorOf()).timestamp === isoNow(server));
    server.clock.advance(60 * minute);
    await nothingElse();
    receiver.answer = (response) => response.writeHead(204).end();
    await api.upload(room, 'other.jpg', 'abc');
    await receiver.next();
    await eventually('the error is gone', async () => (await errorOf()) === undefined);
  });

  it('[HOOK-6] does not repeat an event of the text after a newer one', async (t) => {
    const { api, room, server, url, create, receiver, nothingElse } = await openStage(t);
    await create({ events: ['text'] });
    receiver.answer = (response) => response.writeHead(503).end();
    await api.post(`/api/rooms/${room}/content`, { json: { content: '1' } });
    assert.equal((await receiver.next()).payload.data.version, 1);
    await eventually(
      'the error is stored',
      async () => (await api.get(`/api/rooms/${room}/webhooks`)).json.webhooks[0].lastError,
    );
    // The server notes the events of a room in order: when it has noted the file, the newer text has replaced the older.
    await create({ url: new URL('/probe', url).href, events: ['file'] });
    const before = receiver.probes;
    await api.post(`/api/rooms/${room}/content`, { json: { content: '2' } });
    await api.upload(room, 'later.txt', 'x');
    await eventually('the newer events are noted', () => receiver.probes > before);
    receiver.answer = (response) => response.writeHead(204).end();
    server.clock.advance(5 * second);
    assert.equal((await receiver.next()).payload.data.version, 2);
    server.clock.advance(minute);
    await nothingElse();
  });

  it('[HOOK-6] does not follow redirects', async (t) => {
    const { api, room, create, receiver, url } = await openStage(t);
    await create({ events: ['file'] });
    receiver.answer = (response) => response.writeHead(307, { Location: `${url}&redirected` }).end();
    await api.upload(room, 'photo.jpg', 'abc');
    await receiver.next();
    const error = await eventually(
      'members see the error',
      async () => (await api.get(`/api/rooms/${room}/webhooks`)).json.webhooks[0].lastError,
    );
    assert.equal(error.code, 'REDIRECT');
    assert.equal(error.message, 'The host responded with a redirect (status 307). It was not followed.');
    assert.equal(receiver.waiting(), 0);
  });

  it('[HOOK-7] reports after a restart what was not reported before', async (t) => {
    const { api, room, server, create, receiver } = await openStage(t);
    await create({ events: ['file'] });
    receiver.answer = (response) => response.writeHead(500).end();
    await api.upload(room, 'photo.jpg', 'abc');
    const first = await receiver.next();
    await server.restart();
    receiver.answer = (response) => response.writeHead(204).end();
    server.clock.advance(5 * second);
    assert.equal((await receiver.next()).headers['webhook-id'], first.headers['webhook-id']);
  });

  it('[HOOK-10] is stored sealed, and its URL is never logged', async (t) => {
    const { api, room, server, url, create, receiver } = await openStage(t);
    await create();
    receiver.answer = (response) => response.writeHead(500).end();
    await api.upload(room, 'photo.jpg', 'abc');
    await receiver.next();
    await eventually('members see the error', async () => {
      return (await api.get(`/api/rooms/${room}/webhooks`)).json.webhooks[0].lastError;
    });
    assert.ok(!server.logged().includes('secret-token'));
    let stored = '';
    const webhooks = {
      read: async () => undefined,
      async write(_: unknown, { document }: { document?: string }) {
        stored = document ?? '';
        return 'stored' as const;
      },
    };
    const documents = createWebhookDocuments({ webhooks: webhooks as never, secret: 'a secret', clock: Date.now });
    const document = { webhooks: [{ url }], textAt: 0, deviceAt: 0 };
    await documents.update(room as never, () => ({ document: document as never, seq: 0, dueAt: 0 }));
    assert.ok(stored.length > 0 && !Buffer.from(stored, 'base64').includes('secret-token'));
  });

  it('[HOOK-11] can be created, listed and deleted with the SDK', async (t) => {
    const { server, room, url } = await openStage(t);
    const opened = createClient({ url: server.url }).room(room);
    const { id, secret, ...created } = await opened.createWebhook({ url, events: ['room'] });
    assert.match(secret, /^whsec_/);
    assert.deepEqual(await opened.webhooks(), [{ id, ...created }]);
    await opened.deleteWebhook(id);
    assert.deepEqual(await opened.webhooks(), []);
  });
});

interface Payload {
  type: string;
  timestamp: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read data of all shapes
  data: any;
}

interface Received {
  headers: IncomingHttpHeaders;
  body: string;
  payload: Payload;
}

const isoNow = ({ clock }: TestServer) => new Date(clock.now).toISOString();

/** A server that allows webhooks to a receiver, and a room. */
async function openStage(t: TestContext) {
  const receiver = await startReceiver(t);
  const server = await startTestServer(
    t,
    { POPROOM_FREE_LIMIT: '0', POPROOM_WEBHOOK_HOSTS: `127.0.0.1:${receiver.port}` },
    { webhookScanMs: 20 },
  );
  const { api } = server;
  const room = await api.room();
  const url = `http://127.0.0.1:${receiver.port}/hook?token=secret-token`;
  const create = (json: object = {}): Promise<ApiResponse> =>
    api.post(`/api/rooms/${room}/webhooks`, { json: { url, ...json } });
  /** Reports a later change of another room, so that everything before it would have been reported. */
  async function nothingElse(): Promise<void> {
    const other = await api.room();
    const json = { url: new URL('/probe', url).href, events: ['file'] };
    await api.post(`/api/rooms/${other}/webhooks`, { json });
    for (const name of ['1', '2']) {
      const before = receiver.probes;
      await api.upload(other, name, 'x');
      await eventually('the other room is reported', () => receiver.probes > before);
    }
    assert.equal(receiver.waiting(), 0, 'nothing else was reported');
  }

  return { server, api, room, url, create, receiver, nothingElse };
}

async function startReceiver(t: TestContext) {
  const received: Received[] = [];
  const receiver = {
    port: 0,
    /** Requests to another path, which always succeed. */
    probes: 0,
    answer: (response: ServerResponse): unknown => response.writeHead(204).end(),
    waiting: () => received.length,
    next: () => eventually('the receiver gets a request', () => received.shift()),
  };
  const server = createServer(async (request, response) => {
    if (request.url === '/probe') {
      receiver.probes += 1;
      return response.writeHead(204).end();
    }
    const body = Buffer.concat(await request.toArray()).toString();
    received.push({ headers: request.headers, body, payload: JSON.parse(body) });
    receiver.answer(response);
  });
  receiver.port = Number(new URL(await listenOnFreePort(t, server)).port);
  return receiver;
}
