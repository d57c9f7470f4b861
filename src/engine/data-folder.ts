/** Keeps the data folder to the user that runs the server: folders 0700, files 0600. */
import { chmodSync, lstatSync, readdirSync, type Stats, statSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** What is made in the folder. All that is below was made with the same modes. */
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
  /** The mode that it should have. */
  wanted: number;
  /** Why the server does not try to change it. */
  reason: 'not-ours' | 'shared' | undefined;
}

/** Returns what stays open. */
export function closeToOthers(dataFolder: string): OpenPath[] {
  for (const { path, wanted, reason } of findOpenPaths(dataFolder)) if (!reason) tryToChangeMode(path, wanted);
  return findOpenPaths(dataFolder);
}

/** Some file systems have no modes. */
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
    look(root, stats, isShared),
    ...folders.map((name) => join(root, name)).map((path) => look(path, statSync(path, ifThere))),
    // Not where a link leads to, which somebody else may have made.
    ...files.map((name) => join(root, name)).map((path) => look(path, lstatSync(path, ifThere))),
  ];
  return found.filter((open) => open !== undefined);
}

const ifThere = { throwIfNoEntry: false } as const;

function look(path: string, stats: Stats | undefined, isUsedByOthers?: typeof isShared): OpenPath | undefined {
  const user = process.getuid?.();
  // On Windows there are no modes.
  if (user === undefined || !stats || stats.isSymbolicLink() || (stats.mode & others) === 0) return undefined;
  const found = { path, mode: stats.mode & 0o7777, wanted: stats.isDirectory() ? 0o700 : 0o600 };
  if (stats.uid !== user) return { ...found, reason: 'not-ours' };
  return { ...found, reason: isUsedByOthers?.(path, stats) ? 'shared' : undefined };
}

/** Closing a folder such as /tmp, or one with other things in it, could break what others do there. */
function isShared(path: string, { mode }: Stats): boolean {
  return (mode & sticky) !== 0 || readdirSync(path).some((name) => !ownNames.has(name));
}
