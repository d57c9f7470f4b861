/** Opens the drivers of a place. Redis and S3 are loaded only if they are used. */
import { openDiskBlobs } from '../blobs/disk.ts';
import type { S3Options } from '../blobs/s3.ts';
import { createLocalBus } from '../bus/local.ts';
import type { BlobStore, EngineParts, EventBus, GuardRules, Store } from '../core/ports.ts';
import type { Redis } from '../redis/connection.ts';
import type { RedisTarget } from '../redis/redis-url.ts';
import { openSqliteStore, type SqliteOptions } from '../store/sqlite/index.ts';
import type { FilesPlace, StorePlace } from './location.ts';

interface OpenedStore {
  store: Store & EngineParts;
  /** Opens the events of this store. */
  openBus(): Promise<OpenedBus>;
  /** Registers a server with the others that use this store. Returns a function that removes it. */
  join(): Promise<() => Promise<void>>;
  /** Rejects if the data has another format than that of this version. For commands, which are not servers. */
  checkFormat(): Promise<void>;
}

interface OpenedBus extends EventBus {
  close(): void;
}

type StoreOptions = Omit<SqliteOptions, 'folder'>;

export async function openStore(place: StorePlace, options: StoreOptions): Promise<OpenedStore> {
  return 'folder' in place ? openEmbedded(place.folder, options) : openDistributed(place.redis, options.rules);
}

function openEmbedded(folder: string, options: StoreOptions): OpenedStore {
  const openBus = async () => ({ ...createLocalBus(), close: () => undefined });
  // The folder is locked, and has its own schema version.
  const join = async () => async () => undefined;
  const checkFormat = async () => undefined;
  return { store: openSqliteStore({ folder, ...options }), openBus, join, checkFormat };
}

export async function openDistributed(target: RedisTarget, rules: GuardRules): Promise<OpenedStore & { redis: Redis }> {
  const { connectRedis } = await import('../redis/connection.ts');
  const redis = await connectRedis(target);
  const [{ createRedisStore, assertFormat, joinServers }, { openRedisBus }] = await Promise.all([
    import('../store/redis/open.ts'),
    import('../bus/redis.ts'),
  ]);
  const { prefix } = target;
  return {
    redis,
    store: createRedisStore(redis, prefix, rules),
    openBus: () => openRedisBus(redis, prefix),
    join: () => joinServers(redis, prefix),
    checkFormat: () => assertFormat(redis, prefix),
  };
}

interface BlobOptions extends Omit<S3Options, 'bucket' | 'prefix'> {
  /** Whether no other process uses the folder, if it is one. */
  isLocked?: boolean;
}

export async function openBlobs(place: FilesPlace, { isLocked, ...options }: BlobOptions): Promise<BlobStore> {
  if ('folder' in place) return openDiskBlobs({ folder: place.folder, minFree: options.minFree, isLocked });
  const { openS3Blobs } = await import('../blobs/s3.ts');
  return openS3Blobs({ ...place.bucket, ...options });
}
