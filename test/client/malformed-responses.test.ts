/** Answers to requests that are not those of the server. */
import assert from 'node:assert/strict';
import { createServer, type ServerResponse } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import { describe, it, type TestContext } from 'node:test';
import { type Client, createClient, PoproomError, type Room } from '../../src/client/index.ts';
import * as bodies from '../../src/protocol/schemas.ts';
import { listenOnFreePort } from '../support/listen.ts';
import { malformedExamples, validExample } from './malformed.ts';

type Ask = (room: Room, client: Client) => Promise<unknown>;
type BodySchema = Parameters<typeof malformedExamples>[0];

const calls: Record<string, [schema: BodySchema, ask: Ask]> = {
  createRoom: [bodies.roomCreated, (_, client) => client.createRoom()],
  health: [bodies.healthReport, (_, client) => client.health()],
  info: [bodies.roomInfo, (room) => room.info()],
  read: [bodies.contentRead, (room) => room.read()],
  // Of a text that was written, what is handed on is the same as of one that was read.
  write: [bodies.contentRead, (room) => room.write('x')],
  edit: [bodies.contentEdited, (room) => room.edit([{ from: 0, to: 0, insert: 'x' }])],
  append: [bodies.contentEdited, (room) => room.append('x')],
  history: [bodies.historyList, (room) => room.history()],
  historyText: [bodies.historyText, (room) => room.historyText(1)],
  restore: [bodies.historyText, (room) => room.restore(1)],
  clearHistory: [bodies.confirmation, (room) => room.clearHistory()],
  files: [bodies.fileList, (room) => room.files()],
  upload: [bodies.fileUploaded, (room) => room.upload(new Blob(['x']), { name: 'x' })],
  zipUrl: [bodies.ticketIssued, (room) => room.zipUrl()],
  removeFile: [bodies.confirmation, (room) => room.removeFile('0')],
  delete: [bodies.confirmation, (room) => room.delete()],
};

const oddBodies = ['', 'null', '7', '"x"', '[]', '{', '<h1>Sign in</h1>', '\ufffd', '{"success":true}'];
const manyValues = [`[${'{},'.repeat(200_000)}{}]`, '['.repeat(200_000), `{"a":${'{"a":'.repeat(200_000)}`];

describe('a response', () => {
  for (const [name, [schema, ask]] of Object.entries(calls)) {
    it(`[SDK-15] to ${name}() is a typed error if any field is missing or has the wrong type`, async (t) => {
      const { client, room, answerWith } = await startServer(t);
      answerWith(JSON.stringify(validExample(schema)));
      await ask(room, client);
      const malformed = [...malformedExamples(schema)].map(
        ({ description, value }) => [description, JSON.stringify(value)] as const,
      );
      assert.ok(malformed.length > 10);
      for (const [what, body] of [
        ...malformed,
        ...[...oddBodies, ...manyValues].map((body) => [body.slice(0, 20), body] as const),
      ]) {
        answerWith(body);
        assert.equal(await codeOf(ask(room, client)), 'INVALID_RESPONSE', what);
      }
    });
  }

  it('[SDK-15] without the version of its text is a typed error', async (t) => {
    const { room, answerWith } = await startServer(t);
    const { version: inBody, ...older } = validExample(bodies.contentRead) as { version: number };
    const body = JSON.stringify(older);
    for (const [etag, version] of [
      ['"7"', 7],
      ['W/"7"', 7],
      ['"7-gzip"', 7],
    ] as const) {
      answerWith(body, etag);
      assert.equal((await room.read()).version, version);
    }
    for (const etag of ['', '""', 'W/"x"', '"99999999999999999999"']) {
      answerWith(body, etag);
      assert.equal(await codeOf(room.read()), 'INVALID_RESPONSE', etag);
      answerWith(JSON.stringify({ ...older, version: inBody }), etag);
      assert.equal((await room.read()).version, inBody);
    }
  });

  it('[SDK-15] to an upload without the id of the file has the id in its URL', async (t) => {
    const { room, answerWith } = await startServer(t);
    const { fileId, ...older } = validExample(bodies.fileUploaded) as { fileId: string };
    answerWith(JSON.stringify(older));
    assert.equal((await room.upload(new Blob(['x']), { name: 'x' })).fileId, fileId);
  });

  it('[SDK-15] with a malformed error is a typed error', async (t) => {
    const { room, answerWith } = await startServer(t);
    const malformed = [...malformedExamples(bodies.errorBody.properties.error)].map(({ value }) => ({ error: value }));
    const odd = [
      ...malformed,
      { error: { code: '__proto__', message: 'x' } },
      { error: { code: 'constructor', message: 'x' } },
    ];
    for (const body of [...odd.map((body) => JSON.stringify(body)), ...oddBodies, ...manyValues]) {
      answerWith(body, '', 400);
      assert.equal(await codeOf(room.info()), 'INVALID_RESPONSE', body.slice(0, 80));
    }
  });

  it('[SDK-18] without end is aborted after 64 MiB with a typed error', async (t) => {
    const chunk = Buffer.alloc(1024 * 1024, ' ');
    for (const status of [200, 400]) {
      const { promise: isCut, resolve: cut } = Promise.withResolvers<void>();
      const { room, answerBy } = await startServer(t);
      const endless = new Readable({
        read() {
          this.push(chunk);
        },
      });
      answerBy((response) => {
        pipeline(endless, response.writeHead(status), () => cut());
      });
      assert.equal(await codeOf(room.info()), 'INVALID_RESPONSE');
      await isCut;
    }
  });

  it('[SDK-18] with the longest possible text is read', async (t) => {
    const { room, answerWith } = await startServer(t);
    const content = '"\\,[{\u0001'.repeat(1_400_000);
    answerWith(JSON.stringify({ content, timestamp: '2026-11-16T09:30:00.000Z' }));
    assert.ok((await room.read()).content === content);
  });

  it('[SDK-15] with invalid rate limits is read without them', async (t) => {
    const { client, room, answerBy } = await startServer(t);
    const nine = '9'.repeat(400);
    for (const [limit, left] of [
      ['x', 'r=1'],
      [nine, `"free";r=${nine};t=${nine}`],
      ['9', `"free";r=0;t=${nine}`],
    ]) {
      answerBy((response) => {
        response.setHeader('X-RateLimit-Limit', limit ?? '').setHeader('RateLimit', left ?? '');
        response.end(JSON.stringify(validExample(bodies.roomInfo)));
      });
      await room.info();
      assert.equal(client.rateLimit, undefined);
    }
  });
});

async function codeOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => 'it was taken',
    (error) => (error instanceof PoproomError ? error.code : String(error)),
  );
}

async function startServer(t: TestContext) {
  let answer: (response: ServerResponse) => unknown = (response) => response.end();
  const server = createServer((request, response) => request.resume().on('end', () => answer(response)));
  const client = createClient({ url: await listenOnFreePort(t, server) });
  return {
    client,
    room: client.room('7KQ2MX'),
    answerBy(next: typeof answer) {
      answer = next;
    },
    answerWith(body: string, etag = '"1"', status = 200) {
      answer = (response) => response.writeHead(status, { ETag: etag }).end(body);
    },
  };
}
