/** Compressed responses: which ones, and that nothing with a secret is among them. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { describe, it } from 'node:test';
import { TransferBudget } from '../../src/core/defence/transfer-budget.ts';
import { compress, jsonText } from '../../src/http/response/reply.ts';
import { holdUnsent } from '../../src/http/response/send.ts';
import type { ApiResponse } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { openRawSocket, requestHead } from '../support/raw-socket.ts';
import { sharedServer, startTestServer, type TestServer } from '../support/server.ts';

const noLimit = { POPROOM_FREE_LIMIT: '0' };

/** `fetch` decodes the body and keeps the header. */
const encodingOf = ({ headers }: ApiResponse) => headers.get('content-encoding') ?? 'identity';
const lengthOf = ({ headers }: ApiResponse) => Number(headers.get('content-length'));
const accepting = (encodings: string, more = {}) => ({ headers: { 'accept-encoding': encodings, ...more } });

async function roomWith({ api }: TestServer, content: string): Promise<string> {
  const room = await api.room();
  assert.equal((await api.post(`/api/rooms/${room}/content`, { json: { content } })).status, 200);
  return room;
}

describe('a compressed response', () => {
  it('[COMP-1] is a text in the encoding that the client prefers, as JSON and as plain text', async (t) => {
    const server = await sharedServer(t);
    for (const content of ['é'.repeat(1024), 'prose '.repeat(3000), 'prose '.repeat(100_000)]) {
      const path = `/api/rooms/${await roomWith(server, content)}/content`;
      for (const [accepted, expected] of [
        ['br, gzip', 'br'],
        ['gzip, deflate', 'gzip'],
        ['br;q=0.5, gzip', 'gzip'],
        ['*', 'br'],
        ['identity', 'identity'],
        ['deflate', 'identity'],
        ['br;q=0', 'identity'],
      ] as const) {
        const response = await server.api.get(path, accepting(accepted));
        assert.deepEqual([encodingOf(response), response.json.content], [expected, content], accepted);
        assert.deepEqual(
          [response.headers.get('vary'), response.headers.get('etag')],
          ['Accept, Accept-Encoding', '"1"'],
        );
        if (expected !== 'identity') assert.ok(lengthOf(response) < content.length / 10, accepted);
        const plain = await server.api.get(path, accepting(accepted, { accept: 'text/plain' }));
        assert.deepEqual([encodingOf(plain), plain.text], [expected, content], accepted);
      }
    }
  });

  it('[COMP-1] has 1 KiB or more, and is not sent to a client that has the version', async (t) => {
    const server = await sharedServer(t);
    const { api } = server;
    const short = await api.get(`/api/rooms/${await roomWith(server, 'x'.repeat(900))}/content`, accepting('br'));
    assert.deepEqual([encodingOf(short), short.headers.get('vary')], ['identity', 'Accept, Accept-Encoding']);
    const path = `/api/rooms/${await roomWith(server, 'x'.repeat(1024))}/content`;
    assert.equal(encodingOf(await api.get(path, accepting('br'))), 'br');
    assert.equal((await api.get(path, accepting('br', { 'if-none-match': '"1"' }))).status, 304);
  });

  it('[COMP-1] is an earlier text, the list of them, or a description of the API', async (t) => {
    const server = await startTestServer(t, noLimit);
    const room = await roomWith(server, 'first '.repeat(1000));
    const replace = (content: string) => server.api.post(`/api/rooms/${room}/content`, { json: { content } });
    for (let n = 0; n < 20; n++) {
      server.clock.advance(31_000);
      await replace(`${n} `.repeat(1000));
    }
    const history = `/api/rooms/${room}/history`;
    const { version } = (await server.api.get(history)).json.history[0];
    for (const path of [history, `${history}/${version}`, '/api/openapi.json', '/api/asyncapi.json']) {
      const [plain, br, gzip] = [
        await server.api.get(path, accepting('identity')),
        await server.api.get(path, accepting('br')),
        await server.api.get(path, accepting('gzip')),
      ];
      assert.deepEqual([plain, br, gzip].map(encodingOf), ['identity', 'br', 'gzip'], path);
      for (const { headers, text } of [br, gzip]) {
        assert.deepEqual([headers.get('vary'), text], ['Accept-Encoding', plain.text], path);
      }
    }
  });

  it('[COMP-2] is nothing that contains a secret, values of a request, or links', async (t) => {
    const server = await startTestServer(t, noLimit);
    const { api } = server;
    const content = 'x'.repeat(20_000);
    const room = await roomWith(server, content);
    const long = 'n'.repeat(250);
    const uploads = await Promise.all([1, 2, 3, 4].map((n) => api.upload(room, `${n}${long}`, 'abc', accepting('br'))));
    const listed = await api.get(`/api/rooms/${room}/files`, accepting('br'));
    const written = await api.post(`/api/rooms/${room}/content`, { json: { content }, ...accepting('br') });
    const conflict = await api.post(`/api/rooms/${room}/content`, {
      json: { content },
      ...accepting('br', { 'if-match': '"9"' }),
    });
    const created = await api.post('/api/rooms', { json: { pin: '0427' }, ...accepting('br') });
    const ticket = await api.post(`/api/rooms/${room}/tickets`, accepting('br'));
    assert.deepEqual(
      [listed, written, conflict].map(({ text }) => text.length > 1024),
      [true, true, true],
    );
    for (const response of [...uploads, listed, written, conflict, created, ticket]) {
      assert.equal(encodingOf(response), 'identity', response.text.slice(0, 100));
    }
    const channel = await openRawSocket(t, server.port);
    await channel.send(requestHead('GET', `/api/rooms/${room}/events`, { 'Accept-Encoding': 'br' }));
    const head = await eventually('the snapshot arrives', () => /^.*resumeToken/s.exec(channel.unread())?.[0]);
    assert.doesNotMatch(head, /content-encoding/i);
  });

  it('[SAFE-5] counts against the memory of its client until it is sent', async () => {
    const raw = new IncomingMessage(new Socket());
    raw.headers['accept-encoding'] = 'gzip';
    const reply = await compress(raw, jsonText(200, randomBytes(64 * 1024).toString('hex')));
    const { length } = reply.body as Buffer;
    assert.ok(length < 80_000, 'it is compressed');
    const memory = new TransferBudget({ perClient: length, total: 4 * length }, () => 0);
    const hold = (client: string, response = new ServerResponse(raw)) =>
      holdUnsent({ client, response }, memory, reply);
    const response = new ServerResponse(raw);
    assert.ok(hold('a', response));
    assert.equal(hold('a'), false);
    response.emit('close');
    const aborted = new ServerResponse(raw);
    aborted.destroyed = true;
    assert.ok(hold('a', aborted));
    assert.equal(memory.total, 0, 'it holds nothing if its client is gone');
    assert.ok(hold('a'));
  });
});
