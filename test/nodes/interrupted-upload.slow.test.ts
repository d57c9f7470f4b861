/** A large upload by a common tus client, interrupted again and again: the file arrives complete. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { after, before, describe, it, type TestContext } from 'node:test';
import { Upload } from 'tus-js-client';
import { isLongRun } from '../hostile/long-run.ts';
import { type Installation, installations } from '../support/installations.ts';
import { createSuiteCleanup } from '../support/process.ts';
import { openRawSocket, requestHead } from '../support/raw-socket.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { partType, sendPart, startUpload, tus } from '../support/tus.ts';

const MiB = 1024 * 1024;
/** On S3, it has two complete parts and the start of a third. */
const sizes = isLongRun
  ? { embedded: 200 * MiB, distributed: 200 * MiB }
  : { embedded: 12 * MiB, distributed: 36 * MiB };
const interruptions = 10;
const settings = {
  POPROOM_FILE_MAX: '1GiB',
  POPROOM_ROOM_MAX_BYTES: '1GiB',
  POPROOM_CLIENT_MAX_BYTES: '0',
  POPROOM_TOTAL_MAX_BYTES: '0',
};
const timeout = isLongRun ? 600_000 : 120_000;

describe('an upload', () => {
  const suite = createSuiteCleanup();
  const running = {} as Record<keyof typeof sizes, Installation>;
  before(async () => {
    running.embedded = await installations.embedded(suite, settings);
    running.distributed = await installations.distributed(suite, settings);
  });
  after(suite.end);

  for (const engine of ['embedded', 'distributed'] as const) {
    it(`[TUS-4] [TUS-10] that is interrupted ten times arrives complete on the ${engine} engine`, {
      timeout,
    }, async (t) => {
      const { current } = running[engine];
      const line = await startTcpProxy(t, () => current().port);
      const room = await current().api.room();
      const bytes = randomBytes(sizes[engine]);
      const interrupted = await upload(t, { line, room, bytes, running: running[engine] });
      assert.equal(interrupted, interruptions);
      const { files } = (await current().api.get(`/api/rooms/${room}/files`)).json;
      assert.deepEqual([files.length, files[0]?.fileName, files[0]?.fileSize], [1, 'video.mp4', bytes.length]);
      const { pathname } = new URL(files[0].fileUrl);
      const stored = await fetch(current().url + pathname);
      assert.equal(sha256(Buffer.from(await stored.arrayBuffer())), sha256(bytes));
    });
  }

  it('[TUS-8] [TUS-10] that is sent to two nodes is stored once, and the slower one responds with 409', async (t) => {
    const { current, interrupt } = running.distributed;
    const slow = current();
    await interrupt();
    const { api, url } = current();
    const bytes = randomBytes(MiB);
    const room = await api.room();
    const path = await startUpload(api, room, bytes.length);
    const socket = await openRawSocket(t, slow.port);
    const head = { ...tus, ...partType, 'Upload-Offset': 0, 'Content-Length': bytes.length };
    await socket.send(requestHead('PATCH', path, head));
    await socket.send(bytes.subarray(0, MiB / 2));
    assert.equal((await sendPart(api, path, 0, bytes)).status, 204);
    await socket.send(bytes.subarray(MiB / 2));
    assert.equal((await socket.response()).code, 'UPLOAD_CONFLICT');
    const { files } = (await api.get(`/api/rooms/${room}/files`)).json;
    assert.equal(files.length, 1);
    const stored = await fetch(url + new URL(files[0].fileUrl).pathname);
    assert.equal(sha256(Buffer.from(await stored.arrayBuffer())), sha256(bytes));
  });
});

interface Transfer {
  line: TcpProxy;
  room: string;
  bytes: Buffer;
  running: Installation;
}

/** Resolves to the number of interruptions. */
function upload(t: TestContext, { line, room, bytes, running }: Transfer): Promise<number> {
  const chance = seededRandom(t);
  let count = 0;
  let nextAt = 0;
  let interrupting = Promise.resolve();

  async function interrupt(): Promise<void> {
    if (count % 2 === 1) await running.interrupt();
    line.disconnect();
  }

  return new Promise((resolve, reject) => {
    const transfer = new Upload(bytes, {
      endpoint: `${line.url}/api/rooms/${room}/uploads`,
      // The client reports its progress at least after each chunk.
      chunkSize: Math.ceil(bytes.length / (2 * interruptions)),
      retryDelays: Array(100).fill(100),
      metadata: { filename: 'video.mp4', filetype: 'video/mp4' },
      // The link names the address that the client used.
      onBeforeRequest: async () => interrupting,
      onProgress(sent) {
        if (count === interruptions || sent < nextAt) return;
        count += 1;
        nextAt = (count * bytes.length) / (interruptions + 1) + chance.number(MiB);
        interrupting = interrupting.then(interrupt);
      },
      onError: reject,
      onSuccess: () => resolve(count),
    });
    transfer.start();
  });
}

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
