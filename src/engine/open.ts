/** Opens what the settings name: the whole engine, only its keys, or only its rooms. */
import { statfsSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import { mapInBatches } from '../core/concurrency.ts';
import { guardRules } from '../core/limits.ts';
import type { BlobStore, Clock, EventBus, KeyStore, RoomDirectory, Store } from '../core/ports.ts';
import type { RoomCode } from '../core/room-code.ts';
import { endRoom } from '../core/trash.ts';
import { parseRedisUrl, type RedisTarget } from '../redis/redis-url.ts';
import { openSqliteKeys } from '../store/sqlite/index.ts';
import { connect, openBlobs, openDistributed, openStore } from './drivers.ts';
import type { StorePlace } from './location.ts';
import { keepSecret } from './secret.ts';

export interface Engine {
  store: Store;
  bus: EventBus;
  blobs: BlobStore;
  /** Keys the hashes of PINs. */
  secret: string;
  /** Writes everything that is still in memory. */
  close(): Promise<void>;
}

export async function openEngine(config: Config, clock: Clock, eraseEveryMs?: number): Promise<Engine> {
  const { store, openBus } = await openStore(storePlaceOf(config), {
    rules: rulesOf(config),
    now: clock(),
    eraseEveryMs,
  });
  try {
    const blobs = await openConfiguredBlobs(config);
    const secret = config.secret ?? keepSecret(config.dataDir);
    const bus = await openBus();
    const close = async () => {
      bus.close();
      await store.close();
    };
    return { store, bus, blobs, secret, close };
  } catch (error) {
    await store.close();
    throw error;
  }
}

function openConfiguredBlobs({ files, dataDir, minFreeDisk, s3Endpoint, s3PathStyle }: Config): Promise<BlobStore> {
  return openBlobs(files === 'disk:' ? { folder: join(dataDir, 'files') } : { bucket: files }, {
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
  if (given !== undefined || files !== 'disk:') return given ?? 0;
  try {
    const { blocks, bsize } = statfsSync(dataDir);
    return Math.floor(blocks * bsize * shareOfDisk);
  } catch {
    // Without a known size there is no limit. Writes fail when the disk is full.
    return 0;
  }
}

type TotalSettings = Pick<Config, 'totalMaxBytes' | 'files' | 'dataDir'>;

export const rulesOf = (config: Config) => guardRules(config.missLimit, config.maxDevices);
