/** Makes a file that only its owner can open, whatever the umask. SQLite gives its log and index the same mode. */
import { closeSync, fchmodSync, openSync } from 'node:fs';

export function createPrivateFile(path: string): void {
  try {
    const file = openSync(path, 'wx', 0o600);
    fchmodSync(file, 0o600);
    closeSync(file);
  } catch {
    // One that exists is not opened here: closing it would give up the locks that SQLite has on it. Where none can be
    // made, SQLite says why.
  }
}
