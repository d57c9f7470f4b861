/**
 * The data folder: whether it can be used, its modes (folders 0700, files 0600, so that only the user that runs the
 * server can open them), and the space on its disk.
 */
import { accessSync, chmodSync, constants, lstatSync, readdirSync, type Stats, statfs, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { noneIfMissing } from '../blobs/staging.ts';
import type { Config } from '../config.ts';
import { PoproomError } from '../core/errors.ts';
import { databaseIn } from '../store/sqlite/database.ts';
import { filesPlaceOf } from './open.ts';

/** The files and folders that the server creates. Everything below them has the same modes. */
const database = ['', '-wal', '-shm', '-journal'].map((suffix) => `poproom.db${suffix}`);
const files = [...database, 'server.lock', 'server.lock-journal', 'secret'];
const folders = ['files', 'files/unfinished', 'spool'];
const ownNames = new Set([...files, ...folders, 'secret.new', 'lost+found']);

const others = 0o077;
const writeByOthers = 0o022;
const sticky = 0o1000;

/** On Linux: proc, sysfs, cgroup2, debugfs, devpts. */
const systemFileSystems = [0x9fa0, 0x62656572, 0x63677270, 0x64626720, 0x1cd1];

/** Not that of `node:fs/promises`, which would load a tenth of Node at the start. */
const readStatfs = promisify(statfs);

/** A local disk responds within milliseconds. */
const responseTimeoutMs = 5000;

/**
 * Rejects a folder on a file system that does not respond, such as that of a network that is gone, or one of the
 * system. The calls after this one block the process, and could not report it.
 */
export async function assertFolderResponds(folder: string): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new FolderHangs(folder)), responseTimeoutMs);
  try {
    const type = await Promise.race([fileSystemOf(resolve(folder)), late]);
    if (!systemFileSystems.includes(type ?? 0)) return;
  } finally {
    clearTimeout(timer);
  }
  throw new PoproomError('UNAVAILABLE', `${folder} is on a file system of the system, not on a disk.`);
}

/** Rejects a folder that this user cannot write, and names the command that fixes it. A missing folder is created later. */
export function assertFolderWritable(folder: string): void {
  const root = resolve(folder);
  const [user, group] = [process.getuid?.(), process.getgid?.()];
  if (user === undefined || !statSync(root, ifThere)?.isDirectory()) return;
  const needed = [...database, 'server.lock', ...folders].map((name) => join(root, name));
  const path = [root, ...needed].find((path) => !isWritable(path));
  if (path === undefined) return;
  const owner = statSync(path).uid;
  const isOurs = owner === user;
  const whose = isOurs ? '' : ` It belongs to user ${owner}.`;
  const problem = `${path} is not writable.${whose} User ${user}, who runs the server, cannot use it.`;
  const command = isOurs ? `chmod -R u+rwX ${root}` : `sudo chown -R ${user}:${group} ${root}`;
  const where = 'for a container: on the host, with the folder that is mounted there';
  throw new PoproomError('UNAVAILABLE', `${problem} Run: ${command} (${where}).`);
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.W_OK | (statSync(path).isDirectory() ? constants.X_OK : 0));
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}

/** The thread that waits for it keeps the process from exiting. */
export class FolderHangs extends PoproomError {
  constructor(folder: string) {
    const problem = `The file system of ${folder} has not responded for ${responseTimeoutMs / 1000} seconds.`;
    super('UNAVAILABLE', `${problem} Check the disk or the network.`);
  }
}

/** Of the folder, or of the nearest parent that exists. Undefined if it cannot be read. */
async function fileSystemOf(path: string): Promise<number | undefined> {
  try {
    return (await readStatfs(path)).type;
  } catch {
    return dirname(path) === path ? undefined : fileSystemOf(dirname(path));
  }
}

/** A file or folder that other users of the machine can open. */
export interface OpenPath {
  path: string;
  mode: number;
  /** The required mode. */
  wanted: number;
  /** Why the server does not try to change it. */
  reason: 'not-ours' | 'shared' | undefined;
}

/** Returns the paths that are still open to others. */
export function closeToOthers(dataFolder: string): OpenPath[] {
  for (const { path, wanted, reason } of findOpenPaths(dataFolder)) if (!reason) tryToChangeMode(path, wanted);
  return findOpenPaths(dataFolder);
}

/** Ignores errors, because some file systems have no modes. */
function tryToChangeMode(path: string, mode: number): void {
  try {
    chmodSync(path, mode);
  } catch {}
}

export function findOpenPaths(dataFolder: string): OpenPath[] {
  const root = resolve(dataFolder);
  const stats = statSync(root, ifThere);
  if (!stats?.isDirectory()) return [];
  const found = [
    inspect(root, stats, isShared),
    ...folders.map((name) => join(root, name)).map((path) => inspect(path, statSync(path, ifThere))),
    // Does not follow links, which another user may have created.
    ...files.map((name) => join(root, name)).map((path) => inspect(path, lstatSync(path, ifThere))),
    ...inspectLinkedDatabase(root),
  ];
  return found.filter((open) => open !== undefined);
}

/** The files beside the target, if the database is a link that the operator has created. */
function inspectLinkedDatabase(root: string): (OpenPath | undefined)[] {
  const link = lstatSync(join(root, 'poproom.db'), ifThere);
  if (!link?.isSymbolicLink() || ![0, process.getuid?.()].includes(link.uid)) return [];
  const target = databaseIn(root);
  return database.map((name) => {
    const path = target + name.slice('poproom.db'.length);
    return inspect(path, lstatSync(path, ifThere));
  });
}

const ifThere = { throwIfNoEntry: false } as const;

function inspect(path: string, stats: Stats | undefined, isUsedByOthers?: typeof isShared): OpenPath | undefined {
  const user = process.getuid?.();
  // Windows has no modes.
  if (user === undefined || !stats || stats.isSymbolicLink() || (stats.mode & others) === 0) return undefined;
  const found = { path, mode: stats.mode & 0o7777, wanted: stats.isDirectory() ? 0o700 : 0o600 };
  if (stats.uid !== user) return { ...found, reason: 'not-ours' };
  return { ...found, reason: isUsedByOthers?.(path, stats) ? 'shared' : undefined };
}

/** Restricting a folder such as /tmp, or one with other files, could break other programs. */
function isShared(path: string, { mode }: Stats): boolean {
  return (mode & sticky) !== 0 || readdirSync(path).some((name) => !ownNames.has(name));
}

/** Rejects a secret that others may have changed. To close the file to them would come too late. */
export function assertOnlyOwnerWrites(path: string): void {
  const found = writableByOthers(path);
  if (found) throw new PoproomError('UNAVAILABLE', `${found.problem} ${found.fix}`);
}

/** Undefined if only its owner can write the file, or it does not exist. Follows links. */
export function writableByOthers(path: string): { problem: string; fix: string } | undefined {
  const stats = process.getuid && statSync(path, ifThere);
  if (!stats || (stats.mode & writeByOthers) === 0) return undefined;
  return {
    problem: `Other users of this machine can write ${path} (mode ${(stats.mode & 0o777).toString(8)}).`,
    fix: `Make sure that nobody has changed it, and run: chmod 600 ${path}`,
  };
}

interface DiskSpace {
  /** Bytes that the user of the server may write. */
  free: number;
  size: number;
}

type DiskFolder = 'data' | 'files';

/** Of the data folder, and of the folder for files if they are not in a bucket. */
export async function diskSpace(config: Config): Promise<Partial<Record<DiskFolder, DiskSpace>>> {
  const place = filesPlaceOf(config);
  const data = await spaceIn(config.dataDir);
  return 'folder' in place ? { data, files: await spaceIn(place.folder) } : { data };
}

async function spaceIn(folder: string): Promise<DiskSpace> {
  const { bavail, blocks, bsize } = await readStatfs(folder);
  return { free: bavail * bsize, size: blocks * bsize };
}

/** The database file of the embedded engine and its log; undefined on Redis. */
export async function databaseBytes({ store, dataDir }: Config): Promise<number | undefined> {
  if (store !== 'sqlite:') return undefined;
  // The log may not exist.
  const read = (suffix: string) => stat(databaseIn(dataDir) + suffix).catch(noneIfMissing);
  const found = await Promise.all(['', '-wal'].map(read));
  return found.reduce((sum, stats) => sum + (stats?.size ?? 0), 0);
}
