/** Creates a file that only its owner can open, whatever the umask. SQLite uses the same mode for its WAL. */
import { closeSync, fchmodSync, openSync } from 'node:fs';

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
