/** Opens the configured drivers. Only this module and server.ts know which ones exist. */
import { statfsSync } from 'node:fs';
import { join } from 'node:path';
import { openDiskBlobs } from '../blobs/disk.ts';
import { createLocalBus } from '../bus/local.ts';
import type { Config } from '../config.ts';
import { mapInBatches } from '../core/concurrency.ts';
import { guardRules } from '../core/limits.ts';
import type { BlobStore, Clock, EventBus, KeyStore, RoomDirectory, Store } from '../core/ports.ts';
import type { RoomCode } from '../core/room-code.ts';
import { endRoom } from '../core/trash.ts';
import { openSqliteKeys, openSqliteStore } from '../store/sqlite/index.ts';
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
  const rooms = config.store === 'sqlite:' ? openEmbedded(config, clock, eraseEveryMs) : await openDistributed(config);
  try {
    return { ...rooms, blobs: await openBlobs(config), secret: config.secret ?? keepSecret(config.dataDir) };
  } catch (error) {
    await rooms.close();
    throw error;
  }
}

type Rooms = Pick<Engine, 'store' | 'bus' | 'close'>;

function openEmbedded(config: Config, clock: Clock, eraseEveryMs: number | undefined): Rooms {
  const store = openSqliteStore({ folder: config.dataDir, rules: rulesOf(config), now: clock(), eraseEveryMs });
  return { store, bus: createLocalBus(), close: store.close };
}

async function openDistributed(config: Config): Promise<Rooms> {
  const { redis, target } = await connect(config);
  const [{ createRedisStore }, { openRedisBus }] = await Promise.all([
    import('../store/redis/index.ts'),
    import('../bus/redis.ts'),
  ]);
  const store = createRedisStore(redis, target.prefix, rulesOf(config));
  const bus = await openRedisBus(redis, target.prefix).catch(async (error) => {
    await store.close();
    throw error;
  });
  const close = async () => {
    bus.close();
    await store.close();
  };
  return { store, bus, close };
}

async function openBlobs({
  files,
  dataDir,
  minFreeDisk: minFree,
  s3Endpoint,
  s3PathStyle,
}: Config): Promise<BlobStore> {
  if (files === 'disk:') return openDiskBlobs({ folder: join(dataDir, 'files'), minFree });
  const { openS3Blobs } = await import('../blobs/s3.ts');
  return openS3Blobs({
    ...files,
    endpoint: s3Endpoint,
    pathStyle: s3PathStyle,
    spool: join(dataDir, 'spool'),
    minFree,
  });
}

/** Only the keys. Servers may be running. */
export async function openKeys(config: Config): Promise<KeyStore & { close(): Promise<void> }> {
  if (config.store === 'sqlite:') return openSqliteKeys(config.dataDir);
  const { redis, target } = await connect(config);
  const { createRedisKeys } = await import('../store/redis/index.ts');
  return { ...createRedisKeys(redis, target.prefix), close: redis.close };
}

/** The rooms, for operators. Servers may be running. */
export async function openRoomDirectory(config: Config): Promise<RoomDirectory> {
  if (config.store !== 'sqlite:') return openRedisDirectory(config);
  const { openSqliteDirectory } = await import('../store/sqlite/room-directory.ts');
  return openSqliteDirectory({
    folder: config.dataDir,
    async removeAlone(codes) {
      const engine = await openEngine(config, Date.now);
      return endRooms(engine, codes).finally(engine.close);
    },
  });
}

async function openRedisDirectory(config: Config): Promise<RoomDirectory> {
  const { redis, target } = await connect(config);
  const [{ createRedisDirectory }, { createRedisStore }, { openRedisBus }] = await Promise.all([
    import('../store/redis/room-directory.ts'),
    import('../store/redis/index.ts'),
    import('../bus/redis.ts'),
  ]);
  const store = createRedisStore(redis, target.prefix, rulesOf(config));
  return createRedisDirectory({
    redis,
    prefix: target.prefix,
    store,
    async remove(codes) {
      const [blobs, bus] = [await openBlobs(config), await openRedisBus(redis, target.prefix)];
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

async function connect(config: Config) {
  const [{ connectRedis }, { parseRedisUrl }] = await Promise.all([
    import('../redis/connection.ts'),
    import('../redis/redis-url.ts'),
  ]);
  const target = parseRedisUrl(config.store);
  return { redis: await connectRedis(target), target };
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
