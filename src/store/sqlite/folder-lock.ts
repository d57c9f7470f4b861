/**
 * One server a folder: two would each count in their own memory, and every limit would hold twice.
 * The lock is SQLite's own on an empty database, so it goes with the process, however that ends.
 */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { PoproomError } from '../../core/errors.ts';

export class FolderInUse extends PoproomError {
  constructor(folder: string, cause: unknown) {
    super('UNAVAILABLE', `Another Poproom server is running on the folder ${folder}.`, { cause });
  }
}

export function lockFolder(folder: string): () => void {
  const lock = new DatabaseSync(join(folder, 'server.lock'));
  try {
    lock.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
  } catch (cause) {
    lock.close();
    throw new FolderInUse(folder, cause);
  }
  return () => lock.close();
}
