/** Failures of an S3 store: they are reported soon, and nothing remains of the upload. */
import assert from 'node:assert/strict';
import dns from 'node:dns';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { after, before, describe, it, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { inspect } from 'node:util';
import { defaultTimeouts, openS3Blobs } from '../../src/blobs/s3.ts';
import type { Timeouts } from '../../src/blobs/s3-objects.ts';
import type { BlobStore } from '../../src/core/ports/files.ts';
import { listOrphans, newName, put } from '../contract/blobs.ts';
import { eventually } from '../support/eventually.ts';
import { s3Error, startCuttingProxy, startFaultyS3, unusedEndpoint } from '../support/faulty-s3.ts';
import { openHandles, openSockets } from '../support/process-stats.ts';
import { startS3, type TestS3 } from '../support/s3.ts';

const MiB = 1024 * 1024;
const unavailable = { code: 'UNAVAILABLE', retryAfter: 5 };
/** Little beside what is waited for by default, and much for a machine that is busy. */
const soonMs = 8000;

let s3: TestS3;
before(async () => {
  s3 = await startS3();
  Object.assign(process.env, s3.env);
});
after(() => s3.stop());

describe('s3: an unavailable store', () => {
  it('[RUN-2] is reported immediately when nothing listens, for every operation', async (t) => {
    const { blobs, assertNothingLeft } = await open(t, unusedEndpoint);
    for (const [what, question] of questions(blobs)) {
      assert.ok((await refusalMs(question)) < soonMs, what);
    }
    await assertNothingLeft();
  });

  it('[RUN-2] is reported within 2 s when it does not accept the connection', async (t) => {
    t.mock.method(dns, 'lookup', (() => undefined) as unknown as typeof dns.lookup);
    assert.ok(defaultTimeouts.connect < 2000);
    const { blobs, assertNothingLeft } = await open(t, 'http://silent.invalid', { connect: 200 });
    for (const [what, question] of questions(blobs)) {
      assert.ok((await refusalMs(question)) < soonMs, what);
    }
    await assertNothingLeft();
  });

  it('[RUN-2] is reported when it accepts the connection and then stays silent', async (t) => {
    const endpoint = await startFaultyS3(t, (request) => request.resume());
    const { blobs, assertNothingLeft } = await open(t, endpoint, { answer: 200, quiet: 200 });
    for (const [what, question] of questions(blobs)) {
      assert.ok((await refusalMs(question)) < soonMs, what);
    }
    await assertNothingLeft();
  });

  it('[UP-6] is reported when it stops reading a file', async (t) => {
    const endpoint = await startFaultyS3(t, (request) => request.pause());
    const { blobs, assertNothingLeft } = await open(t, endpoint, { quiet: 200 });
    await assert.rejects(put(blobs, newName(), Buffer.alloc(10 * MiB)), unavailable);
    await assertNothingLeft();
  });

  it('[UP-6] is reported when it answers everything except the upload', async (t) => {
    const endpoint = await startFaultyS3(t, answerHead);
    const { blobs, assertNothingLeft } = await open(t, endpoint, { quiet: 100, upload: 1000 });
    await assert.rejects(put(blobs, newName(), Buffer.alloc(MiB)), unavailable);
    await assertNothingLeft();
  });
});

describe('s3: a slow store', () => {
  it('[NODE-13] receives a file of 10 MiB however long it takes', async (t) => {
    const { promise: received, resolve } = Promise.withResolvers<number>();
    const endpoint = await startFaultyS3(t, async (request, response) => {
      if (request.method === 'HEAD') return answerHead(request, response);
      let bytes = 0;
      for await (const chunk of request) {
        bytes += chunk.length;
        // Some ten times as long as it may be quiet, in all.
        await pause((chunk.length / (10 * MiB)) * 3000);
      }
      resolve(bytes);
      response.end();
    });
    const { blobs, assertNothingLeft } = await open(t, endpoint, { quiet: 300 });
    assert.equal(await put(blobs, newName(), Buffer.alloc(10 * MiB)), 10 * MiB);
    assert.equal(await received, 10 * MiB);
    await assertNothingLeft();
  });

  it('[NODE-13] may take long to respond, even if it does not say whether the bucket exists', async (t) => {
    let [asked, answered] = [0, false];
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const endpoint = await startFaultyS3(t, async (request, response) => {
      if (request.method === 'HEAD') {
        asked += 1;
        // A connection that had gone stale says nothing about the store.
        if (asked === 1) request.socket.destroy();
        else response.writeHead(403).end();
        if (asked === 4) resolve();
        return;
      }
      await request.resume().toArray();
      await late;
      answered = true;
      response.end();
    });
    const { blobs, assertNothingLeft } = await open(t, endpoint, { quiet: 600 });
    await put(blobs, newName(), Buffer.alloc(MiB));
    assert.ok(answered);
    await assertNothingLeft();
  });
});

describe('s3: a connection that breaks', () => {
  it('[UP-6] fails the upload if it breaks twice, and leaves nothing behind', async (t) => {
    const warn = t.mock.method(console, 'warn', () => undefined);
    const { endpoint, connections } = await startCuttingProxy(t, s3.port, Number.POSITIVE_INFINITY, MiB);
    const { blobs, prefix, assertNothingLeft } = await open(t, endpoint);
    await assert.rejects(put(blobs, newName(), Buffer.alloc(5 * MiB)), unavailable);
    assert.equal(connections(), 2);
    await assertNothingLeft();
    assert.deepEqual(await keysUnder(prefix), []);
    assert.equal(warn.mock.callCount(), 0, 'something was written past the log');
  });

  it('[UP-6] does not affect an upload if it breaks once', async (t) => {
    const { endpoint, connections } = await startCuttingProxy(t, s3.port, 1, MiB);
    const { blobs, assertNothingLeft } = await open(t, endpoint);
    const name = newName();
    const bytes = Buffer.alloc(5 * MiB, 'some text');
    assert.equal(await put(blobs, name, bytes), bytes.length);
    assert.equal(connections(), 2);
    const read = await blobs.open(name, undefined);
    assert.ok(Buffer.concat((await read?.toArray()) ?? []).equals(bytes));
    await assertNothingLeft();
  });

  it('ends a download when the store stops responding in the middle', async (t) => {
    const { blobs } = await open(t, await startFaultyS3(t, beginOnly), { idle: 2000 });
    const bytes = await blobs.open(newName(), undefined);
    await assert.rejects(async () => bytes?.toArray());
  });

  it('[RUN-7] does not end the process when a download breaks before anyone reads it', async (t) => {
    const { blobs } = await open(t, await startFaultyS3(t, beginOnly), { idle: 2000 });
    const bytes = await blobs.open(newName(), undefined);
    assert.ok(bytes);
    await new Promise<void>((resolve) => bytes.once('close', resolve));
  });
});

describe('s3: an upload that is aborted while it is sent', () => {
  const senderLeft = new Error('the sender left');

  it('[UP-6] ends immediately, and so does its request', async (t) => {
    const giveUp = new AbortController();
    const { promise: cut, resolve } = Promise.withResolvers<void>();
    const endpoint = await startFaultyS3(t, (request) => {
      request.once('data', () => giveUp.abort(senderLeft));
      request.once('close', resolve);
      request.on('error', () => undefined);
    });
    const { blobs, assertNothingLeft } = await open(t, endpoint, { answer: 300 });
    const bytes = Readable.from([Buffer.alloc(10 * MiB)]);
    await assert.rejects(blobs.put(newName(), bytes, 10 * MiB, giveUp.signal), senderLeft);
    await cut;
    await assertNothingLeft();
  });

  it('[UP-6] is removed again if the store had received all of it', async (t) => {
    const giveUp = new AbortController();
    const removed: string[] = [];
    const endpoint = await startFaultyS3(t, async (request, response) => {
      if (request.method === 'DELETE') {
        removed.push(request.url ?? '');
        response.writeHead(204).end();
      } else {
        await request.resume().toArray();
        giveUp.abort(senderLeft);
      }
    });
    const { blobs, prefix, assertNothingLeft } = await open(t, endpoint);
    const name = newName();
    await assert.rejects(blobs.put(name, Readable.from([Buffer.alloc(MiB)]), MiB, giveUp.signal), senderLeft);
    assert.deepEqual(removed, [`/${s3.bucket}/${prefix}${name}?x-id=DeleteObject`]);
    await assertNothingLeft();
  });
});

describe('s3: a store that rejects requests', () => {
  const busy: [status: number, code: string][] = [
    [500, 'InternalError'],
    [503, 'SlowDown'],
    [429, 'TooManyRequests'],
  ];
  for (const [status, code] of busy) {
    it(`[UP-6] is asked again once after ${status} ${code}`, async (t) => {
      let asked = 0;
      const endpoint = await startFaultyS3(t, async (request, response) => {
        asked += 1;
        await request.toArray();
        response.writeHead(status).end(s3Error(code, 'Not now.'));
      });
      const { blobs, assertNothingLeft } = await open(t, endpoint);
      await assert.rejects(put(blobs, newName(), Buffer.from('x')), unavailable);
      assert.equal(asked, 2);
      await assertNothingLeft();
    });
  }

  it('[UP-6] may do so before it has read the file, and no connection remains open', async (t) => {
    const body = s3Error('AccessDenied', 'Access Denied');
    const refused: IncomingMessage[] = [];
    // Node's own answer would go on to read the file.
    const endpoint = await startFaultyS3(t, (request) => {
      refused.push(request);
      request.socket.write(`HTTP/1.1 403 Forbidden\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    });
    const { blobs, assertNothingLeft } = await open(t, endpoint);
    const sockets = await openSockets(process.pid);
    for (let n = 0; n < 5; n++) await assert.rejects(put(blobs, newName(), Buffer.alloc(10 * MiB)), unavailable);
    // The other end, which is in this process too, learns of the end when it reads on.
    for (const request of refused) request.on('error', () => undefined).resume();
    await eventually('the connections are closed', async () => (await openSockets(process.pid)) <= sockets);
    await assertNothingLeft();
  });

  const full: [status: number, code: string, message: string][] = [
    [507, 'XMinioStorageFull', 'Storage backend has reached its minimum free drive threshold.'],
    [400, 'XMinioAdminBucketQuotaExceeded', 'Bucket quota exceeded'],
    [403, 'QuotaExceeded', 'Unknown'],
    [403, 'AccessDenied', 'Bucket size quota is reached, maximum size for this bucket: 5'],
  ];
  for (const [status, code, message] of full) {
    it(`[UP-6] is reported as full for ${status} ${code}: ${message}`, async (t) => {
      let asked = 0;
      const endpoint = await startFaultyS3(t, async (request, response) => {
        asked += 1;
        await request.toArray();
        response.writeHead(status).end(s3Error(code, message));
      });
      const { blobs, assertNothingLeft } = await open(t, endpoint);
      await assert.rejects(put(blobs, newName(), Buffer.from('x')), { code: 'STORAGE_FULL' });
      assert.equal(asked, 1);
      await assertNothingLeft();
    });
  }

  it('[RUN-2] is reported as unavailable if the bucket does not exist, unlike a missing file', async (t) => {
    const { blobs } = await open(t, s3.endpoint, {}, 'another-bucket');
    for (const [what, question] of questions(blobs)) await assert.rejects(question, unavailable, what);
  });

  it('[RUN-2] is reported as unavailable for an unknown access key', async (t) => {
    process.env.AWS_ACCESS_KEY_ID = 'UNKNOWN';
    t.after(() => Object.assign(process.env, s3.env));
    const { blobs, assertNothingLeft } = await open(t, s3.endpoint);
    for (const [what, question] of questions(blobs)) await assert.rejects(question, unavailable, what);
    await assertNothingLeft();
  });

  it('[RUN-5] is reported as unavailable for a wrong signature, and the error does not contain what was signed', async (t) => {
    const echo = '<AWSAccessKeyId>S3RVER</AWSAccessKeyId><StringToSign>AWS4 all of it</StringToSign>';
    const endpoint = await startFaultyS3(t, async (request, response) => {
      await request.toArray();
      response.writeHead(403).end(s3Error('SignatureDoesNotMatch', `It does not match.</Message>${echo}<Message>`));
    });
    const { blobs } = await open(t, endpoint);
    for (const [what, question] of questions(blobs)) {
      const error = await question.then(
        () => assert.fail(what),
        (refusal) => refusal,
      );
      assert.equal(error.code, 'UNAVAILABLE');
      assert.doesNotMatch(inspect(error, { depth: 9, showHidden: true }), /S3RVER|AWS4/);
    }
  });

  it('is asked in the region us-east-1 if none is configured', async (t) => {
    const { promise: signed, resolve } = Promise.withResolvers<string>();
    const endpoint = await startFaultyS3(t, ({ headers }, response) => {
      resolve(headers.authorization ?? '');
      response.end();
    });
    delete process.env.AWS_REGION;
    t.after(() => Object.assign(process.env, s3.env));
    await (await open(t, endpoint)).blobs.ping();
    assert.match(await signed, /\/us-east-1\/s3\/aws4_request/);
  });
});

/** Starts every operation of a blob store. */
function* questions(blobs: BlobStore): Generator<[what: string, answer: Promise<unknown>]> {
  yield ['put', put(blobs, newName(), Buffer.alloc(MiB))];
  yield ['open', blobs.open(newName(), undefined)];
  yield ['remove', blobs.remove(newName())];
  yield ['strays', listOrphans(blobs, 0)];
  yield ['ping', blobs.ping()];
}

async function refusalMs(question: Promise<unknown>): Promise<number> {
  const since = performance.now();
  await assert.rejects(question, unavailable);
  return performance.now() - since;
}

/** Has a bucket, and accepts uploads without responding. */
function answerHead(request: IncomingMessage, response: ServerResponse): void {
  request.resume();
  if (request.method === 'HEAD') response.end();
}

/** Sends the first bytes of a file, and then nothing more. */
function beginOnly(_: IncomingMessage, response: ServerResponse): void {
  response.writeHead(200, { 'Content-Length': MiB });
  response.write('the beginning');
}

async function keysUnder(prefix: string): Promise<string[]> {
  return (await s3.keys()).filter((key) => key.startsWith(prefix));
}

let opened = 0;

async function open(t: TestContext, endpoint: string, timeouts: Partial<Timeouts> = {}, bucket = s3.bucket) {
  const spool = await mkdtemp(join(tmpdir(), 'poproom-spool-'));
  t.after(() => rm(spool, { recursive: true }));
  const prefix = `failures-${++opened}/`;
  const blobs = await openS3Blobs({ bucket, prefix, endpoint, pathStyle: true, spool, minFree: 0 }, timeouts);
  return {
    blobs,
    prefix,
    /** Neither a file in the spool nor one that is still open. */
    async assertNothingLeft() {
      assert.deepEqual(await readdir(spool), []);
      const inSpool = (path: string) => path.startsWith(spool);
      await eventually('its files are closed', async () => !(await openHandles(process.pid)).some(inSpool));
    },
  };
}
