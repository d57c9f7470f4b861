/** Opens the source or target of a migration: a store and its files. */
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Bucket, Config } from '../config.ts';
import { PoproomError } from '../core/errors.ts';
import type { Store } from '../core/ports/store.ts';
import type { EnginePlace, FilesPlace, StorePlace } from '../engine/location.ts';
import { openBlobs, openStore, rulesOf } from '../engine/open.ts';
import { hostsOf } from '../redis/redis-url.ts';
import { FolderInUse } from '../store/sqlite/database.ts';
import type { MigrationEnd } from './migrate.ts';

export interface OpenedEnd extends MigrationEnd {
  close(): Promise<void>;
}

export async function openEnd({ store: place, files }: EnginePlace, config: Config): Promise<OpenedEnd> {
  const store = await openRooms(place, config);
  try {
    const { blobs, removeSpool } = await openFiles(files, config);
    const close = async () => {
      await store.close();
      await removeSpool();
    };
    const { rooms, trash, archive, secretRecord, reports } = store;
    return { rooms, trash, archive, secretRecord, reports, blobs, close };
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function openRooms(place: StorePlace, config: Config): Promise<Store> {
  const { store, checkFormat } = await openStore(place, { rules: rulesOf(config), now: Date.now() }).catch((error) => {
    throw unavailable(problemOf(place, error), error);
  });
  await checkFormat();
  return store;
}

function problemOf(place: StorePlace, error: unknown): string {
  if ('redis' in place) return `Redis at ${hostsOf(place.redis)} does not respond or rejects the credentials.`;
  if (error instanceof FolderInUse) return `${error.message} Stop it first.`;
  if ((error as Error).message !== 'file is not a database') throw error;
  return `${join(place.folder, 'poproom.db')} is not a database.`;
}

const unavailable = (sentence: string, cause: unknown) => new PoproomError('UNAVAILABLE', sentence, { cause });

async function openFiles(place: FilesPlace, config: Config) {
  const { s3Endpoint: endpoint, s3PathStyle: pathStyle, minFreeDisk: minFree } = config;
  if ('folder' in place) {
    const blobs = await openBlobs(place, { endpoint, pathStyle, spool: place.folder, minFree });
    return { blobs, removeSpool: async () => undefined };
  }
  const spool = mkdtempSync(join(tmpdir(), 'poproom-migrate-'));
  const removeSpool = () => rm(spool, { recursive: true, force: true });
  try {
    const blobs = await openBlobs(place, { endpoint, pathStyle, spool, minFree: 0 });
    await blobs.ping().catch((error) => {
      throw unavailable(unreachable(place.bucket), error);
    });
    return { blobs, removeSpool };
  } catch (error) {
    await removeSpool();
    throw error;
  }
}

const unreachable = ({ bucket }: Bucket) =>
  `The bucket ${bucket} does not respond. Check POPROOM_S3_ENDPOINT and the AWS credentials.`;
