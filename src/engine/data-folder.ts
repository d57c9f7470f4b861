/** Restricts the data folder to the user that runs the server: folders 0700, files 0600. */
import { chmodSync, lstatSync, readdirSync, type Stats, statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { PoproomError } from '../core/errors.ts';

/** The files and folders that the server creates. Everything below them has the same modes. */
const database = ['poproom.db', 'poproom.db-wal', 'poproom.db-shm', 'poproom.db-journal'];
const files = [...database, 'server.lock', 'server.lock-journal', 'secret'];
const folders = ['files', 'files/unfinished', 'spool'];
const ownNames = new Set([...files, ...folders, 'secret.new', 'lost+found']);

const others = 0o077;
const sticky = 0o1000;

/** On Linux: proc, sysfs, cgroup2, debugfs, devpts. */
const systemFileSystems = [0x9fa0, 0x62656572, 0x63677270, 0x64626720, 0x1cd1];

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

/** The thread that waits for it keeps the process from exiting. */
export class FolderHangs extends PoproomError {
  constructor(folder: string) {
    const seconds = responseTimeoutMs / 1000;
    super(
      'UNAVAILABLE',
      `The file system of ${folder} has not responded for ${seconds} seconds. Check the disk or the network.`,
    );
  }
}

/** Of the folder, or of the nearest parent that exists. Undefined if it cannot be read. */
async function fileSystemOf(path: string): Promise<number | undefined> {
  try {
    return (await statfs(path)).type;
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
  ];
  return found.filter((open) => open !== undefined);
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
