/** A large upload by a common tus client, interrupted again and again: the file arrives complete. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { describe, it, type TestContext } from 'node:test';
import { Upload } from 'tus-js-client';
import { isLongRun } from '../hostile/long-run.ts';
import { type Installation, installations } from '../support/installations.ts';
import { openRawSocket, requestHead } from '../support/raw-socket.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { partType, sendPart, startUpload, tus } from '../support/tus.ts';

const MiB = 1024 * 1024;
const size = (isLongRun ? 200 : 48) * MiB;
const interruptions = 10;
const settings = {
  POPROOM_FILE_MAX: '1GiB',
  POPROOM_ROOM_MAX_BYTES: '1GiB',
  POPROOM_CLIENT_MAX_BYTES: '0',
  POPROOM_TOTAL_MAX_BYTES: '0',
};
const timeout = isLongRun ? 600_000 : 120_000;

describe('an upload that is interrupted ten times', { timeout }, () => {
  for (const [engine, start] of Object.entries(installations)) {
    it(`[TUS-4] [TUS-10] arrives complete on the ${engine} engine`, { timeout }, async (t) => {
      const running = await start(t, settings);
      const line = await startTcpProxy(t, () => running.current().port);
      const room = await running.current().api.room();
      const bytes = randomBytes(size);
      const interrupted = await upload(t, { line, room, bytes, running });
      assert.equal(interrupted, interruptions);
      const { files } = (await running.current().api.get(`/api/rooms/${room}/files`)).json;
      assert.deepEqual([files.length, files[0]?.fileName, files[0]?.fileSize], [1, 'video.mp4', size]);
      const { pathname } = new URL(files[0].fileUrl);
      const stored = await fetch(running.current().url + pathname);
      assert.equal(sha256(Buffer.from(await stored.arrayBuffer())), sha256(bytes));
    });
  }
});

describe('two nodes with bytes of the same upload', { timeout }, () => {
  it('[TUS-8] [TUS-10] store it once, and the slower one responds with 409', async (t) => {
    const running = await installations.distributed?.(t, settings);
    assert.ok(running);
    const slow = running.current();
    await running.interrupt();
    const { api } = running.current();
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
    const stored = await fetch(running.current().url + new URL(files[0].fileUrl).pathname);
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
      chunkSize: 4 * MiB,
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
