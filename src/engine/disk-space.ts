/** How much space the disks of a server have, and how much its database uses. */
import { stat, statfs } from 'node:fs/promises';
import type { Config } from '../config.ts';
import { databaseIn } from '../store/sqlite/private-file.ts';
import { filesPlaceOf } from './open.ts';

export interface DiskSpace {
  /** Bytes that the user of the server may write. */
  free: number;
  size: number;
}

export type DiskFolder = 'data' | 'files';

/** Of the data folder, and of the folder for files if they are not in a bucket. */
export async function diskSpace(config: Config): Promise<Partial<Record<DiskFolder, DiskSpace>>> {
  const place = filesPlaceOf(config);
  const data = await spaceIn(config.dataDir);
  return 'folder' in place ? { data, files: await spaceIn(place.folder) } : { data };
}

async function spaceIn(folder: string): Promise<DiskSpace> {
  const { bavail, blocks, bsize } = await statfs(folder);
  return { free: bavail * bsize, size: blocks * bsize };
}

/** The database file of the embedded engine and its log; undefined on Redis. */
export async function databaseBytes({ store, dataDir }: Config): Promise<number | undefined> {
  if (store !== 'sqlite:') return undefined;
  const sizes = await Promise.all(['', '-wal'].map((suffix) => sizeOf(databaseIn(dataDir) + suffix)));
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** The log may not exist. */
async function sizeOf(path: string): Promise<number> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  return found?.size ?? 0;
}
