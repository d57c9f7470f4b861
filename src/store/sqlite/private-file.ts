/** Where the database is, and how its files are created. */
import { closeSync, fchmodSync, openSync, readlinkSync, realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** The database file of a data folder, or the target of a link: SQLite has its log beside the target. */
export function databaseIn(folder: string): string {
  const path = join(folder, 'poproom.db');
  try {
    return realpathSync(path);
  } catch {
    return linkTarget(folder, path) ?? path;
  }
}

/** The target does not have to exist. */
function linkTarget(folder: string, path: string): string | undefined {
  try {
    return resolve(folder, readlinkSync(path));
  } catch {
    return undefined;
  }
}

/** Only its owner can open it, whatever the umask. SQLite uses the same mode for its WAL. */
export function createPrivateFile(path: string): void {
  try {
    const file = openSync(path, 'wx', 0o600);
    fchmodSync(file, 0o600);
    closeSync(file);
  } catch {
    // An existing file is not opened here, because closing it would release SQLite's locks. If it cannot be created,
    // SQLite reports the reason.
  }
}
