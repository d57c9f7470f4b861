/** Opens the source or target of a migration: a store and its files. */
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDiskBlobs } from '../blobs/disk.ts';
import type { Bucket, Config } from '../config.ts';
import { PoproomError } from '../core/errors.ts';
import type { BlobStore, GuardRules, Store } from '../core/ports.ts';
import type { EnginePlace, FilesPlace, StorePlace } from '../engine/location.ts';
import { rulesOf } from '../engine/open.ts';
import type { RedisTarget } from '../redis/redis-url.ts';
import { FolderInUse } from '../store/sqlite/folder-lock.ts';
import { openSqliteStore } from '../store/sqlite/index.ts';
import type { MigrationEnd } from './types.ts';

export interface OpenedEnd extends MigrationEnd {
  close(): Promise<void>;
}

export async function openEnd({ store: place, files }: EnginePlace, config: Config): Promise<OpenedEnd> {
  const store = await openStore(place, config);
  try {
    const { blobs, removeSpool } = await openFiles(files, config);
    const close = async () => {
      await store.close();
      await removeSpool();
    };
    return { rooms: store.rooms, archive: store.archive, blobs, close };
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function openStore(place: StorePlace, config: Config): Promise<Store> {
  const rules = rulesOf(config);
  return 'folder' in place ? openEmbedded(place.folder, rules) : openDistributed(place.redis, rules);
}

function openEmbedded(folder: string, rules: GuardRules): Store {
  try {
    return openSqliteStore({ folder, rules, now: Date.now() });
  } catch (error) {
    if (error instanceof FolderInUse) throw unavailable(`${error.message} Stop it first.`, error);
    if ((error as Error).message !== 'file is not a database') throw error;
    throw unavailable(`${join(folder, 'poproom.db')} is not a database.`, error);
  }
}

async function openDistributed(target: RedisTarget, rules: GuardRules): Promise<Store> {
  const [{ connectRedis }, { createRedisStore }] = await Promise.all([
    import('../redis/connection.ts'),
    import('../store/redis/index.ts'),
  ]);
  const redis = await connectRedis(target).catch((error) => {
    const hosts = target.nodes.map(({ host, port }) => `${host}:${port}`).join(', ');
    throw unavailable(`Redis at ${hosts} does not respond or rejects the credentials.`, error);
  });
  return createRedisStore(redis, target.prefix, rules);
}

const unavailable = (sentence: string, cause: unknown) => new PoproomError('UNAVAILABLE', sentence, { cause });

interface OpenedFiles {
  blobs: BlobStore;
  removeSpool(): Promise<void>;
}

async function openFiles(place: FilesPlace, config: Config): Promise<OpenedFiles> {
  if ('bucket' in place) return openBucket(place.bucket, config);
  const blobs = openDiskBlobs({ folder: place.folder, minFree: config.minFreeDisk });
  return { blobs, removeSpool: async () => undefined };
}

async function openBucket(
  bucket: Bucket,
  { s3Endpoint: endpoint, s3PathStyle: pathStyle }: Config,
): Promise<OpenedFiles> {
  const { openS3Blobs } = await import('../blobs/s3.ts');
  const spool = mkdtempSync(join(tmpdir(), 'poproom-migrate-'));
  const removeSpool = () => rm(spool, { recursive: true, force: true });
  const blobs = await openS3Blobs({ ...bucket, endpoint, pathStyle, spool, minFree: 0 });
  try {
    await blobs.ping();
  } catch (error) {
    await removeSpool();
    const problem = `The bucket ${bucket.bucket} does not respond.`;
    throw unavailable(`${problem} Check POPROOM_S3_ENDPOINT and the AWS credentials.`, error);
  }
  return { blobs, removeSpool };
}
