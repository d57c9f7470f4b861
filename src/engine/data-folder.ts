/** Restricts the data folder to the user that runs the server: folders 0700, files 0600. */
import { chmodSync, lstatSync, readdirSync, type Stats, statSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** The files and folders that the server creates. Everything below them has the same modes. */
const database = ['poproom.db', 'poproom.db-wal', 'poproom.db-shm', 'poproom.db-journal'];
const files = [...database, 'server.lock', 'server.lock-journal', 'secret'];
const folders = ['files', 'files/unfinished', 'spool'];
const ownNames = new Set([...files, ...folders, 'secret.new', 'lost+found']);

const others = 0o077;
const sticky = 0o1000;

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
