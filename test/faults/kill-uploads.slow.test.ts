/** Repeated kills during resumable uploads: received bytes stay, and nothing else remains. */
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { describe, it, type TestContext } from 'node:test';
import { type Config, readConfig } from '../../src/config.ts';
import { createClientHash } from '../../src/core/clients.ts';
import { removeOrphanBlobs, sweepRooms } from '../../src/core/sweep.ts';
import { type Engine, openEngine } from '../../src/engine/open.ts';
import { isLongRun } from '../hostile/long-run.ts';
import { hashOf } from '../support/acknowledged.ts';
import { storedBlobs } from '../support/data-folder.ts';
import { eventually } from '../support/eventually.ts';
import { defaultLimits, noQuota } from '../support/no-quota.ts';
import { installationSettings } from '../support/nodes.ts';
import { dataFolder, startProcess } from '../support/process.ts';
import { openRawSocket, requestHead } from '../support/raw-socket.ts';
import { startRedis } from '../support/redis.ts';
import { startS3, type TestS3 } from '../support/s3.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { offsetOf, sendPart, startUpload } from '../support/tus.ts';
import { createUploaders, type TrackedUpload } from './uploaders.ts';

const rounds = isLongRun ? 60 : 4;
const MiB = 1024 * 1024;
const env = {
  ...{ POPROOM_FREE_LIMIT: '0', POPROOM_MISS_LIMIT: '0', POPROOM_MIN_FREE_DISK: '0' },
  ...{ POPROOM_FILE_MAX: '32MiB', POPROOM_ROOM_MAX_BYTES: '8GiB', POPROOM_CLIENT_MAX_BYTES: '64GiB' },
};

interface Storage {
  settings: Record<string, string>;
  /** Bytes. */
  largestFile: number;
  s3?: TestS3;
}

const engines: Record<string, (t: TestContext) => Promise<Storage>> = {
  embedded: async () => ({ settings: env, largestFile: 2 * MiB }),

  async distributed(t) {
    const [redis, s3] = await Promise.all([startRedis(), startS3()]);
    t.after(() => Promise.all([redis.stop(), s3.stop()]));
    Object.assign(process.env, s3.env);
    // More than one part of an object.
    return { settings: installationSettings({ redis, s3 }, env), s3, largestFile: 17 * MiB };
  },
};

describe('a server that is killed during resumable uploads', () => {
  for (const [name, open] of Object.entries(engines)) {
    it(`[FAULT-1] [TUS-4] [TUS-6] [TUS-7] [UP-11] keeps what it acknowledged and nothing else, ${name} engine`, {
      timeout: 3600_000,
    }, async (t) => {
      const storage = await open(t);
      const random = seededRandom(t);
      const folder = await dataFolder(t);
      const uploaders = createUploaders(random, storage.largestFile);
      for (let round = 0; round < rounds; round++) {
        const server = await startProcess(t, folder, storage.settings);
        await uploaders.assertAcknowledged(server.api);
        const { enough, gone } = uploaders.start(server.api, 5 + random.number(20));
        await enough;
        await server.end('SIGKILL');
        await gone;
      }
      const server = await startProcess(t, folder, storage.settings);
      await uploaders.assertAcknowledged(server.api);
      await uploaders.completeOne(server.api);
      await server.end('SIGKILL');
      const complete = uploaders.complete();
      t.diagnostic(`${rounds} kills, ${uploaders.requests()} responses, ${complete.length} complete files`);
      await assertNothingElse(readConfig({ ...storage.settings, POPROOM_DATA_DIR: folder }), storage, complete);
    });
  }
});

describe('a server that is killed during uploads in one request', () => {
  it('[LIFE-5] [FAULT-1] leaves bytes that the next start removes, and keeps resumable uploads', async (t) => {
    const folder = await dataFolder(t);
    const unfinished = () => readdir(join(folder, 'files', 'unfinished'));
    const server = await startProcess(t, folder, env);
    const room = await server.api.room();
    const path = await startUpload(server.api, room, 2 * MiB);
    assert.equal((await sendPart(server.api, path, 0, Buffer.alloc(MiB, 'a'))).status, 204);
    for (let n = 0; n < 3; n++) {
      const socket = await openRawSocket(t, server.port);
      const headers = { 'content-type': 'application/octet-stream', 'x-file-name': 'a.bin', 'content-length': MiB };
      await socket.send(`${requestHead('POST', `/api/rooms/${room}/upload`, headers)}the first bytes`);
    }
    await eventually('bytes arrive', async () => (await unfinished()).length === 4);
    await server.end('SIGKILL');
    assert.equal((await unfinished()).length, 4);
    const next = await startProcess(t, folder, env);
    await eventually('they are removed', async () => (await unfinished()).length === 1);
    assert.equal(await offsetOf(next.api, path), MiB);
    assert.equal((await sendPart(next.api, path, MiB, Buffer.alloc(MiB, 'b'))).status, 204);
  });
});

/** A day later, unfinished uploads have expired. Only complete files are stored, and only they count. */
async function assertNothingElse(config: Config, { s3 }: Storage, complete: readonly TrackedUpload[]): Promise<void> {
  const clock = () => Date.now() + 25 * 3600_000;
  const engine = await openEngine(config, clock);
  try {
    if (s3) await abandonParts(engine, s3, config, complete);
    const { store, blobs, bus, secret } = engine;
    const deps = { ...store, blobs, bus, quota: noQuota, limits: defaultLimits, clock, secret };
    await sweepRooms(deps);
    await removeOrphanBlobs(deps);
    for (const { id = '', bytes } of complete) {
      const stored = await blobs.open((await store.files.findFile(id, clock()))?.blob ?? '', undefined);
      assert.equal(stored && hashOf(await buffer(stored)), hashOf(bytes), 'a complete file is intact');
    }
    const sum = complete.reduce((total, { bytes }) => total + bytes.length, 0);
    assert.deepEqual(await store.storage.usage(), { stored: sum, reserved: 0 });
    assert.equal(await store.storage.usageOf(createClientHash(secret)('127.0.0.1')), sum);
    assert.equal((await storedNames(config, s3)).length, complete.length, 'each complete file is stored once');
  } finally {
    await engine.close();
  }
}

/** A node that is killed when it has started to send parts leaves them beside those of the node that continues. */
async function abandonParts(
  { store }: Engine,
  { bucket, endpoint }: TestS3,
  { files }: Config,
  [first]: readonly TrackedUpload[],
): Promise<void> {
  const { CreateMultipartUploadCommand, S3Client } = await import('@aws-sdk/client-s3');
  const file = await store.files.findFile(first?.id ?? '', Date.now());
  assert.ok(file && files !== 'disk:' && 'bucket' in files);
  const client = new S3Client({ endpoint, forcePathStyle: true });
  await client.send(new CreateMultipartUploadCommand({ Bucket: bucket, Key: files.prefix + file.blob }));
}

/** Everything in the file store: objects, uploads in parts, and incomplete files on the local disk. */
async function storedNames({ dataDir }: Config, s3: TestS3 | undefined): Promise<string[]> {
  if (!s3) return storedBlobs(dataDir);
  const parts = (await s3.pendingUploads()).map(({ key }) => key);
  return [...(await s3.keys()), ...parts, ...(await readdir(join(dataDir, 'spool')))];
}
