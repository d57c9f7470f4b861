/** Answers to requests that are not those of the server. */
import assert from 'node:assert/strict';
import { createServer, type ServerResponse } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import { describe, it, type TestContext } from 'node:test';
import { schemasByName } from '../../scripts/protocol-schemas.ts';
import { createClient, PoproomError } from '../../src/client/index.ts';
import * as bodies from '../../src/protocol/schemas.ts';
import { listenOnFreePort } from '../support/listen.ts';
import { malformedExamples, validExample } from './malformed.ts';
import { responseCalls } from './response-calls.ts';

const oddBodies = ['', 'null', '7', '"x"', '[]', '{', '<h1>Sign in</h1>', '\ufffd', '{"success":true}'];
const manyValues = [`[${'{},'.repeat(200_000)}{}]`, '['.repeat(200_000), `{"a":${'{"a":'.repeat(200_000)}`];

describe('a response', () => {
  for (const [name, calls] of Object.entries(responseCalls)) {
    it(`[SDK-15] of the kind ${name} is a typed error if any field is missing or has the wrong type`, async (t) => {
      const { client, room, answerWith } = await startServer(t);
      const schema = schemasByName[name] as Parameters<typeof malformedExamples>[0];
      const malformed = [...malformedExamples(schema)];
      assert.ok(malformed.length > 10);
      for (const [i, call] of calls.entries()) {
        answerWith(JSON.stringify(validExample(schema)));
        await call(room, client);
        // All calls of a kind use the same check.
        const examples = i === 0 ? malformed : malformed.slice(0, 2);
        for (const body of [...examples.map(({ value }) => JSON.stringify(value)), ...oddBodies]) {
          answerWith(body);
          assert.equal(await codeOf(call(room, client)), 'INVALID_RESPONSE', body);
        }
      }
    });
  }

  it('[SDK-15] of very many values is a typed error', async (t) => {
    const { room, answerWith } = await startServer(t);
    for (const body of manyValues) {
      answerWith(body);
      assert.equal(await codeOf(room.info()), 'INVALID_RESPONSE', body.slice(0, 20));
    }
  });

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

  it('[slow] [SDK-18] without end is aborted after 64 MiB with a typed error', async (t) => {
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
