/** Parses the locations of stores and files. Each parser throws an error whose message continues "NAME …". */
import { existsSync, realpathSync } from 'node:fs';
import { type Bucket, folderIn, readBucket } from '../config.ts';
import { addressOf, parseRedisUrl, type RedisTarget } from '../redis/redis-url.ts';

export type StorePlace = { folder: string } | { redis: RedisTarget };
export type FilesPlace = { folder: string } | { bucket: Bucket };

export type EnginePlace = { store: StorePlace; files: FilesPlace };

/** `sqlite:FOLDER` or `redis://…`. Errors do not quote it, because it may contain a password. */
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
