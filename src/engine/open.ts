/** Opens what the settings name: the whole engine, only its keys, or only its rooms. */
import { mkdirSync, statfsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Config } from '../config.ts';
import { mapInBatches } from '../core/concurrency.ts';
import { guardRules } from '../core/limits.ts';
import type { BlobStore, Clock, EventBus, KeyStore, RoomDirectory, Store } from '../core/ports.ts';
import type { RoomCode } from '../core/room-code.ts';
import { endRoom } from '../core/trash.ts';
import { parseRedisUrl, type RedisTarget } from '../redis/redis-url.ts';
import { lockFolder } from '../store/sqlite/folder-lock.ts';
import { openSqliteKeys } from '../store/sqlite/index.ts';
import { connect, openBlobs, openDistributed, openStore } from './drivers.ts';
import type { FilesPlace, StorePlace } from './location.ts';
import { openSecret } from './secret.ts';

export interface Engine {
  store: Store;
  bus: EventBus;
  blobs: BlobStore;
  /** Keys the hashes of PINs. */
  secret: string;
  /** Writes everything that is still in memory. */
  close(): Promise<void>;
}

export interface EngineOptions {
  eraseEveryMs?: number;
  /** Whether to start with another secret than that of the stored rooms. Their PINs become invalid. */
  acceptNewSecret?: boolean;
}

export async function openEngine(config: Config, clock: Clock, options: EngineOptions = {}): Promise<Engine> {
  const { eraseEveryMs, acceptNewSecret = false } = options;
  const { store, openBus } = await openStore(storePlaceOf(config), {
    rules: rulesOf(config),
    now: clock(),
    eraseEveryMs,
  });
  let unlockFiles = () => {};
  try {
    unlockFiles = lockFiles(config);
    const blobs = await openConfiguredBlobs(config);
    const source = { given: config.secret, folder: config.dataDir, record: store.secretRecord };
    const secret = await openSecret({ ...source, acceptNew: acceptNewSecret });
    const bus = await openBus();
    const close = async () => {
      bus.close();
      await store.close();
      unlockFiles();
    };
    return { store, bus, blobs, secret, close };
  } catch (error) {
    await store.close();
    unlockFiles();
    throw error;
  }
}

/** Two servers would remove each other's files as leftovers. The data folder has a lock of its own. */
function lockFiles({ files, dataDir }: Config): () => void {
  if (files === 'disk:' || !('folder' in files) || files.folder === resolve(dataDir)) return () => {};
  mkdirSync(files.folder, { recursive: true, mode: 0o700 });
  return lockFolder(files.folder);
}

export function filesPlaceOf({ files, dataDir }: Pick<Config, 'files' | 'dataDir'>): FilesPlace {
  if (files === 'disk:') return { folder: join(dataDir, 'files') };
  return 'folder' in files ? files : { bucket: files };
}

function openConfiguredBlobs(config: Config): Promise<BlobStore> {
  const { dataDir, minFreeDisk, s3Endpoint, s3PathStyle } = config;
  return openBlobs(filesPlaceOf(config), {
    endpoint: s3Endpoint,
    pathStyle: s3PathStyle,
    spool: join(dataDir, 'spool'),
    minFree: minFreeDisk,
  });
}

function storePlaceOf({ store, dataDir }: Config): StorePlace {
  return store === 'sqlite:' ? { folder: dataDir } : { redis: parseRedisUrl(store) };
}

/** Only the keys. Servers may be running. */
export async function openKeys(config: Config): Promise<KeyStore & { close(): Promise<void> }> {
  const place = storePlaceOf(config);
  if ('folder' in place) return openSqliteKeys(place.folder);
  const redis = await connect(place.redis);
  const { createRedisKeys } = await import('../store/redis/index.ts');
  return { ...createRedisKeys(redis, place.redis.prefix), close: redis.close };
}

/** The rooms, for operators. Servers may be running. */
export async function openRoomDirectory(config: Config): Promise<RoomDirectory> {
  const place = storePlaceOf(config);
  if ('redis' in place) return openRedisDirectory(config, place.redis);
  const { openSqliteDirectory } = await import('../store/sqlite/room-directory.ts');
  return openSqliteDirectory({
    folder: place.folder,
    async removeAlone(codes) {
      const engine = await openEngine(config, Date.now);
      return endRooms(engine, codes).finally(engine.close);
    },
  });
}

async function openRedisDirectory(config: Config, target: RedisTarget): Promise<RoomDirectory> {
  const { redis, store, openBus } = await openDistributed(target, rulesOf(config));
  const { createRedisDirectory } = await import('../store/redis/room-directory.ts');
  return createRedisDirectory({
    redis,
    prefix: target.prefix,
    store,
    async remove(codes) {
      const [blobs, bus] = [await openConfiguredBlobs(config), await openBus()];
      return endRooms({ store, blobs, bus }, codes).finally(bus.close);
    },
    // Waits for running commands, such as the last message to the servers.
    close: redis.close,
  });
}

function endRooms({ store, blobs, bus }: Pick<Engine, 'store' | 'blobs' | 'bus'>, codes: readonly RoomCode[]) {
  const parts = { rooms: store.rooms, blobs, bus, clock: Date.now };
  return mapInBatches(codes, (code) => endRoom(parts, code));
}

/** By default uploads leave a fifth of the disk to everything else. */
const shareOfDisk = 0.8;

/** The maximum bytes of all files; 0 means no limit. */
export function totalMaxBytes({ totalMaxBytes: given, files, dataDir }: TotalSettings): number {
  const place = filesPlaceOf({ files, dataDir });
  if (given !== undefined || !('folder' in place)) return given ?? 0;
  try {
    const { blocks, bsize } = statfsSync(files === 'disk:' ? dataDir : place.folder);
    return Math.floor(blocks * bsize * shareOfDisk);
  } catch {
    // Without a known size there is no limit. Writes fail when the disk is full.
    return 0;
  }
}

type TotalSettings = Pick<Config, 'totalMaxBytes' | 'files' | 'dataDir'>;

export const rulesOf = (config: Config) => guardRules(config.missLimit, config.maxDevices);
