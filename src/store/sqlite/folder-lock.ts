/**
 * Allows one server per folder: two would count separately, and every limit would apply twice.
 * It is SQLite's lock on an empty database, so the system releases it however the process ends.
 */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { PoproomError } from '../../core/errors.ts';
import { createPrivateFile } from './private-file.ts';

export class FolderInUse extends PoproomError {
  constructor(folder: string, cause: unknown) {
    super('UNAVAILABLE', `Another Poproom server is using the folder ${folder}.`, { cause });
  }
}

export function lockFolder(folder: string): () => void {
  const path = join(folder, 'server.lock');
  let lock: DatabaseSync | undefined;
  try {
    createPrivateFile(path);
    lock = new DatabaseSync(path);
    lock.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
  } catch (cause) {
    lock?.close();
    throw isBusy(cause) ? new FolderInUse(folder, cause) : unusable(path, cause as Error);
  }
  return () => lock.close();
}

export const sqliteBusy = 5;
const isBusy = (error: unknown) => (error as { errcode?: number }).errcode === sqliteBusy;

function unusable(path: string, cause: Error): PoproomError {
  const message = `Cannot use the lock file ${path}: ${cause.message}.`;
  return new PoproomError('UNAVAILABLE', message, { cause });
}
