/** Backs up the embedded engine into one tar file, while the server may be running. */
import { existsSync } from 'node:fs';
import { type FileHandle, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { openDiskBlobs } from '../blobs/disk.ts';
import type { BlobStore } from '../core/ports/blobs.ts';
import { secretIn } from '../engine/secret.ts';
import { copyDatabase, type DatabaseCopy, dropUnfinished, openCopy } from '../store/sqlite/open.ts';
import { BackupError, createTarWriter, type TarWriter } from './tar.ts';

/** The folders of the embedded engine. */
export interface BackupFolders {
  /** Has the database and the secret. */
  data: string;
  files: string;
}

/** Shared by backups and restores. */
export interface BackupWork extends BackupFolders {
  signal: AbortSignal;
  onStart: (bytes: number) => void;
  onBytes: (bytes: number) => void;
}

export interface BackupReport {
  rooms: number;
  keys: number;
  files: number;
  /** Of the files. */
  bytes: number;
  /** Files that are listed but have no bytes, because they were removed in the meantime. They are left out. */
  missing: number;
}

interface BackupJob extends BackupWork {
  /** The tar file, which must not exist. */
  target: string;
}

export async function backUp(job: BackupJob): Promise<BackupReport> {
  const { target, data } = job;
  const database = join(data, 'poproom.db');
  if (!existsSync(database)) throw new BackupError(`There is no Poproom data in ${data}.`);
  const tar = await createTarget(target);
  const copy = `${target}.db`;
  try {
    copyDatabase(database, copy);
    const report = await writeAll(job, createTarWriter(tar), copy);
    await tar.close();
    return report;
  } catch (error) {
    await tar.close();
    await rm(target, { force: true });
    throw error;
  } finally {
    await rm(copy, { force: true });
  }
}

function createTarget(target: string): Promise<FileHandle> {
  return open(target, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
    throw new BackupError(`${target} already exists; choose another name or remove it.`);
  });
}

/** The database comes last, so that it lists only files whose bytes are in the backup. */
async function writeAll(job: BackupJob, tar: TarWriter, path: string): Promise<BackupReport> {
  const copy = openCopy(path);
  let report: BackupReport;
  try {
    if (copy.schema !== 'current') {
      throw new BackupError('The database was created by another version of Poproom; use the command of that version.');
    }
    const blobs = openDiskBlobs({ folder: job.files, minFree: 0 });
    const { rooms, keys } = copy;
    report = { rooms, keys, ...(await writeFiles(job, tar, copy, blobs)) };
  } finally {
    copy.close();
  }
  dropUnfinished(path);
  await addSecret(tar, job.data);
  await addDatabase(tar, path);
  await tar.finish();
  return report;
}

async function writeFiles(job: BackupJob, tar: TarWriter, copy: DatabaseCopy, blobs: BlobStore) {
  const written = { files: 0, bytes: 0 };
  job.onStart(copy.fileBytes());
  const lost: string[] = [];
  for (const { blob, size } of copy.files()) {
    job.signal.throwIfAborted();
    const bytes = (await blobs.size(blob)) === size ? await blobs.open(blob, undefined) : undefined;
    if (!bytes) {
      lost.push(blob);
      continue;
    }
    await tar.add(`files/${blob}`, size, bytes);
    written.files += 1;
    written.bytes += size;
    job.onBytes(written.bytes);
  }
  for (const blob of lost) copy.drop(blob);
  return { ...written, missing: lost.length };
}

/** Without a file, the secret is a setting. */
async function addSecret(tar: TarWriter, folder: string): Promise<void> {
  if (!existsSync(secretIn(folder))) return;
  const secret = await readFile(secretIn(folder));
  await tar.add('secret', secret.length, [secret]);
}

async function addDatabase(tar: TarWriter, path: string): Promise<void> {
  await using file = await open(path, 'r');
  const { size } = await file.stat();
  await tar.add('poproom.db', size, file.createReadStream({ autoClose: false }));
}
