/** An S3 store without space: a resumable upload is rejected, and continues when there is space. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { describe, it } from 'node:test';
import { hashOf } from '../../support/acknowledged.ts';
import { assertError } from '../../support/assert-error.ts';
import { forwardTo, s3Error, startFaultyS3 } from '../../support/faulty-s3.ts';
import { startS3 } from '../../support/s3.ts';
import { startTestServer } from '../../support/server.ts';
import { unfinishedBlobs } from '../../support/stored-blobs.ts';
import { offsetOf, sendPart, startUpload } from '../../support/tus.ts';

const MiB = 1024 * 1024;

describe('a full S3 store', () => {
  it('[UP-4] [TUS-4] interrupts a resumable upload, which continues when there is space', async (t) => {
    const s3 = await startS3();
    t.after(s3.stop);
    Object.assign(process.env, s3.env);
    let isFull = false;
    const endpoint = await startFaultyS3(t, (incoming, response) => {
      if (isFull && incoming.method === 'PUT') incoming.resume().once('end', () => answerFull(incoming, response));
      else forwardTo(s3.port)(incoming, response);
    });
    const stores = { POPROOM_STORE: 'sqlite:', POPROOM_FILES: `s3://${s3.bucket}/full`, POPROOM_S3_ENDPOINT: endpoint };
    const server = await startTestServer(t, { ...stores, POPROOM_FILE_MAX: '32MiB' });
    const { api } = server;
    const bytes = randomBytes(18 * MiB);
    const path = await startUpload(api, await api.room(), bytes.length);
    assert.equal((await sendPart(api, path, 0, bytes.subarray(0, MiB))).status, 204);

    isFull = true;
    for (const to of [2 * MiB, 17.5 * MiB, bytes.length]) {
      assertError(await sendPart(api, path, MiB, bytes.subarray(MiB, to)), 507, 'STORAGE_FULL');
      assert.equal(await offsetOf(api, path), MiB);
    }
    isFull = false;
    const last = await sendPart(api, path, MiB, bytes.subarray(MiB));
    assert.equal(last.status, 204, last.text);
    const stored = await fetch(last.headers.get('x-file-url') ?? '');
    assert.equal(hashOf(Buffer.from(await stored.arrayBuffer())), hashOf(bytes));
    assert.deepEqual([(await s3.keys()).length, await unfinishedBlobs(server)], [1, []]);
  });
});

const answerFull: RequestListener = (_, response) => {
  response.writeHead(507, { 'Content-Type': 'application/xml' }).end(s3Error('XMinioStorageFull', 'The disk is full.'));
};
