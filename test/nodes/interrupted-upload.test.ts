/** A large upload by a common tus client, interrupted again and again: the file arrives complete. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { describe, it, type TestContext } from 'node:test';
import { Upload } from 'tus-js-client';
import { isLongRun } from '../hostile/long-run.ts';
import { installationSettings, startTwoNodes, withoutLimits } from '../support/nodes.ts';
import { dataFolder, type ServerProcess, startProcess } from '../support/process.ts';
import { startRedis } from '../support/redis.ts';
import { startS3 } from '../support/s3.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';

const MiB = 1024 * 1024;
const size = (isLongRun ? 200 : 48) * MiB;
const interruptions = 10;
const settings = {
  ...withoutLimits,
  POPROOM_FILE_MAX: '1GiB',
  POPROOM_ROOM_MAX_BYTES: '1GiB',
  POPROOM_CLIENT_MAX_BYTES: '0',
  POPROOM_TOTAL_MAX_BYTES: '0',
};
const timeout = isLongRun ? 600_000 : 120_000;

interface Installation {
  /** The server that the client reaches at the moment. */
  current(): ServerProcess;
  /** The ways to interrupt an upload besides a broken connection. */
  interruptions: readonly (() => Promise<void>)[];
}

async function startEmbedded(t: TestContext): Promise<Installation> {
  const folder = await dataFolder(t);
  let server = await startProcess(t, folder, settings);
  const crash = async () => {
    await server.end('SIGKILL');
    server = await startProcess(t, folder, settings);
  };
  return { current: () => server, interruptions: [crash] };
}

async function startDistributed(t: TestContext): Promise<Installation> {
  const [redis, s3] = await Promise.all([startRedis(), startS3()]);
  t.after(() => Promise.all([redis.stop(), s3.stop()]));
  const nodes = await startTwoNodes(t, installationSettings({ redis, s3 }, settings));
  let current = 0;
  const changeNode = async () => {
    current = 1 - current;
  };
  return { current: () => nodes[current] as ServerProcess, interruptions: [changeNode] };
}

describe('an upload that is interrupted ten times', { timeout }, () => {
  for (const [engine, start] of [
    ['embedded', startEmbedded],
    ['distributed', startDistributed],
  ] as const) {
    it(`[TUS-4] [TUS-10] arrives complete on the ${engine} engine`, { timeout }, async (t) => {
      const running = await start(t);
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
    const ways = [async () => undefined, ...running.interruptions];
    await ways[count % ways.length]?.();
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
