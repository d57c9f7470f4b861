/**
 * Parses the places of stores and files, and opens them: the whole engine, only its keys, or only its rooms. The drivers
 * of Redis and S3 are loaded only if they are used.
 */
import { existsSync, mkdirSync, realpathSync, statfsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { openDiskBlobs } from '../blobs/disk.ts';
import type { S3Options } from '../blobs/s3.ts';
import { createLocalBus } from '../bus/local.ts';
import { type Bucket, type Config, folderIn, readBucket } from '../config.ts';
import { mapInBatches } from '../core/concurrency.ts';
import { PoproomError } from '../core/errors.ts';
import { guardRules } from '../core/limits.ts';
import type { RoomDirectory } from '../core/ports/admin.ts';
import type { Clock } from '../core/ports/basics.ts';
import type { KeyStore } from '../core/ports/clients.ts';
import type { BlobStore } from '../core/ports/files.ts';
import type { EventBus, GuardRules } from '../core/ports/rooms.ts';
import type { EngineParts, Store } from '../core/ports/store.ts';
import type { RoomCode } from '../core/room-code.ts';
import { endRoom } from '../core/sweep.ts';
import { addressOf, parseRedisUrl, type RedisTarget } from '../redis/redis-url.ts';
import { lockFolder } from '../store/sqlite/database.ts';
import { openSqliteKeys, openSqliteStore, type SqliteOptions } from '../store/sqlite/open.ts';
import { openSecret } from './secret.ts';

export interface Engine {
  store: Store & EngineParts;
  bus: EventBus;
  blobs: BlobStore;
  /** Keys the hashes of PINs. */
  secret: string;
  /** Writes everything that is still in memory. */
  close(): Promise<void>;
}

interface EngineOptions {
  eraseEveryMs?: number;
  /** Whether to start with another secret than that of the stored rooms. Their PINs become invalid. */
  acceptNewSecret?: boolean;
}

export async function openEngine(config: Config, clock: Clock, options: EngineOptions = {}): Promise<Engine> {
  const { eraseEveryMs, acceptNewSecret = false } = options;
  const opened = await openStore(storePlaceOf(config), { rules: rulesOf(config), now: clock(), eraseEveryMs });
  const { store } = opened;
  let unlockFiles = () => {};
  let leaveServers = async () => {};
  const closeStore = async () => {
    await leaveServers();
    await store.close();
    unlockFiles();
  };
  try {
    leaveServers = await opened.join();
    if (!config.allowEviction) await assertKeepsRooms(store);
    unlockFiles = lockFiles(config);
    // With Redis, the data folder has no lock.
    const blobs = await openConfiguredBlobs(config, config.store === 'sqlite:');
    const source = { given: config.secret, folder: config.dataDir, record: store.secretRecord };
    const secret = await openSecret({ ...source, acceptNew: acceptNewSecret });
    const bus = await opened.openBus();
    const close = async () => {
      bus.close();
      await closeStore();
    };
    return { store, bus, blobs, secret, close };
  } catch (error) {
    await closeStore();
    throw error;
  }
}

/** A Redis that evicts loses rooms that it has acknowledged, and nobody notices. */
async function assertKeepsRooms({ evictionPolicy }: Store): Promise<void> {
  const policy = (await evictionPolicy()) ?? 'noeviction';
  if (policy === 'noeviction') return;
  const problem = `The maxmemory-policy of the Redis in POPROOM_STORE is ${policy}: when its memory is full, it deletes rooms.`;
  const fix = 'Set it to noeviction, or start with POPROOM_ALLOW_EVICTION=true to accept the loss of rooms.';
  throw new PoproomError('UNAVAILABLE', `${problem} ${fix}`);
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

function openConfiguredBlobs(config: Config, isLocked: boolean): Promise<BlobStore> {
  const { dataDir, minFreeDisk, s3Endpoint, s3PathStyle } = config;
  const bucket = { endpoint: s3Endpoint, pathStyle: s3PathStyle, spool: join(dataDir, 'spool') };
  return openBlobs(filesPlaceOf(config), { ...bucket, minFree: minFreeDisk, isLocked });
}

const storePlaceOf = ({ store, dataDir }: Config): StorePlace =>
  store === 'sqlite:' ? { folder: dataDir } : { redis: parseRedisUrl(store) };

/** Only the keys. Servers may be running. */
export async function openKeys(config: Config): Promise<KeyStore & { close(): Promise<void> }> {
  const place = storePlaceOf(config);
  if ('folder' in place) return openSqliteKeys(place.folder);
  const { store } = await openForCommand(config, place.redis);
  return { ...store.keys, close: store.close };
}

async function openForCommand(config: Config, target: RedisTarget) {
  const opened = await openDistributed(target, rulesOf(config));
  await opened.checkFormat();
  return opened;
}

/** The rooms, for operators. Servers may be running. */
export async function openRoomDirectory(config: Config): Promise<RoomDirectory> {
  const place = storePlaceOf(config);
  if ('redis' in place) return openRedisDirectory(config, place.redis);
  const { openSqliteDirectory } = await import('../store/sqlite/admin.ts');
  return openSqliteDirectory({
    folder: place.folder,
    async removeAlone(codes) {
      const engine = await openEngine(config, Date.now);
      return endRooms(engine, codes).finally(engine.close);
    },
  });
}

async function openRedisDirectory(config: Config, target: RedisTarget): Promise<RoomDirectory> {
  const { store, openBus } = await openForCommand(config, target);
  return {
    ...store.summaries,
    countDevices: (codes, now) =>
      mapInBatches(codes, async (code) => (await store.rooms.listDevices(code, now)).length),
    async remove(codes) {
      const [blobs, bus] = [await openConfiguredBlobs(config, false), await openBus()];
      const reasons = await endRooms({ store, blobs, bus }, codes).finally(bus.close);
      return reasons.map((reason) => reason ?? 'removed');
    },
    // Waits for running commands, such as the last message to the servers.
    close: store.close,
  };
}

function endRooms({ store, blobs, bus }: Pick<Engine, 'store' | 'blobs' | 'bus'>, codes: readonly RoomCode[]) {
  const deps = { ...store, blobs, bus, clock: Date.now };
  return mapInBatches(codes, (code) => endRoom(deps, code));
}

/** By default uploads leave a fifth of the disk to everything else. */
const shareOfDisk = 0.8;

/** The maximum bytes of all files; 0 means no limit. */
export function totalMaxBytes(config: Pick<Config, 'totalMaxBytes' | 'files' | 'dataDir'>): number {
  const { totalMaxBytes: given, files, dataDir } = config;
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

export const rulesOf = (config: Config) => guardRules(config.missLimit, config.maxDevices);

interface OpenedStore {
  store: Store & EngineParts;
  /** Opens the events of this store. */
  openBus(): Promise<EventBus & { close(): void }>;
  /** Registers a server with the others that use this store. Returns a function that removes it. */
  join(): Promise<() => Promise<void>>;
  /** Closes the store and rejects if the data has the format of another version. For commands, which are not servers. */
  checkFormat(): Promise<void>;
}

type StoreOptions = Omit<SqliteOptions, 'folder'>;

export const openStore = async (place: StorePlace, options: StoreOptions): Promise<OpenedStore> =>
  'folder' in place ? openEmbedded(place.folder, options) : openDistributed(place.redis, options.rules);

function openEmbedded(folder: string, options: StoreOptions): OpenedStore {
  const openBus = async () => ({ ...createLocalBus(), close: () => undefined });
  // The folder is locked, and has its own schema version.
  const join = async () => async () => undefined;
  const checkFormat = async () => undefined;
  return { store: openSqliteStore({ folder, ...options }), openBus, join, checkFormat };
}

async function openDistributed(target: RedisTarget, rules: GuardRules): Promise<OpenedStore> {
  const { connectRedis } = await import('../redis/connection.ts');
  const redis = await connectRedis(target);
  const [{ createRedisStore, assertFormat, joinServers }, { openRedisBus }] = await Promise.all([
    import('../store/redis/open.ts'),
    import('../bus/redis.ts'),
  ]);
  const { prefix } = target;
  const store = createRedisStore(redis, prefix, rules);
  return {
    store,
    openBus: () => openRedisBus(redis, prefix),
    join: () => joinServers(redis, prefix),
    checkFormat: () =>
      assertFormat(redis, prefix).catch(async (error) => {
        await store.close();
        throw error;
      }),
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

export type StorePlace = { folder: string } | { redis: RedisTarget };
export type FilesPlace = { folder: string } | { bucket: Bucket };

export type EnginePlace = { store: StorePlace; files: FilesPlace };

/** `sqlite:FOLDER` or `redis://…`. The message of an error continues "NAME …", and does not quote a password. */
export function readStorePlace(text: string): StorePlace {
  const folder = folderIn('sqlite', text);
  if (folder) return { folder };
  if (/^rediss?:/.test(text)) return { redis: parseRedisUrl(text) };
  throw new Error('must be sqlite:FOLDER or a URL, for example redis://localhost:6379');
}

/** `disk:FOLDER` or `s3://BUCKET/PREFIX`. */
export function readFilesPlace(text: string): FilesPlace {
  const folder = folderIn('disk', text);
  if (folder) return { folder };
  const bucket = readBucket(text);
  if (bucket) return { bucket };
  throw new Error('must be disk:FOLDER or a bucket, for example s3://my-bucket/poproom');
}

export const isSameStore = (one: StorePlace, other: StorePlace): boolean => nameOf(one) === nameOf(other);

/** A normalized name, the same for all spellings of a store. */
function nameOf(store: StorePlace): string {
  if ('folder' in store) return existsSync(store.folder) ? realpathSync(store.folder) : store.folder;
  const { nodes, database = 0, prefix } = store.redis;
  return JSON.stringify([nodes.map(addressOf).sort(), database, prefix]);
}
