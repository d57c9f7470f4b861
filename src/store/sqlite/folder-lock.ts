/**
 * One server a folder: two would each count in their own memory, and every limit would hold twice.
 * The lock is SQLite's own on an empty database, so it goes with the process, however that ends.
 */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { PoproomError } from '../../core/errors.ts';
import { createPrivateFile } from './private-file.ts';

export class FolderInUse extends PoproomError {
  constructor(folder: string, cause: unknown) {
    super('UNAVAILABLE', `Another Poproom server is running on the folder ${folder}.`, { cause });
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
  const message = `The file ${path}, which keeps other servers away, cannot be used: ${cause.message}.`;
  return new PoproomError('UNAVAILABLE', message, { cause });
}
