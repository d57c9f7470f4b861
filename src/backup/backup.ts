/**
 * Backs up the embedded engine into one tar file, while the server may be running, and restores it into an empty data
 * folder or in place of its data. Nothing is replaced before all is checked.
 */
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { type FileHandle, open, readFile, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { openDiskBlobs } from '../blobs/disk.ts';
import type { BlobStore } from '../core/ports/files.ts';
import { secretIn } from '../engine/secret.ts';
import { lockFolder } from '../store/sqlite/database.ts';
import { copyDatabase, type DatabaseCopy, dropUnfinished, openCopy } from '../store/sqlite/open.ts';
import { BackupError, createTarWriter, readTar, type TarEntry, type TarWriter } from './tar.ts';

/** The folders of the embedded engine. */
export interface BackupFolders {
  /** Has the database and the secret. */
  data: string;
  files: string;
}

interface BackupWork extends BackupFolders {
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

interface RestoreJob extends BackupWork {
  source: string;
  /** Whether existing data may be replaced. */
  replace: boolean;
}

export async function restore(job: RestoreJob): Promise<BackupReport> {
  const { data, files } = job;
  for (const folder of [data, files]) mkdirSync(folder, { recursive: true, mode: 0o700 });
  const unlock = lockAll(job);
  try {
    if (!job.replace) assertEmpty(job);
    return await restoreInto(job);
  } finally {
    for (const release of unlock) release();
  }
}

/** A server that runs on these folders would overwrite what is restored. */
function lockAll({ data, files }: BackupFolders): (() => void)[] {
  const isInside = resolve(files).startsWith(resolve(data));
  return [data, ...(isInside ? [] : [files])].map(lockFolder);
}

const harmless = new Set(['server.lock', 'server.lock-journal', 'lost+found', 'files', 'unfinished', 'spool']);

function assertEmpty({ data, files }: BackupFolders): void {
  // Files are in folders of two digits. A removed file leaves an empty one.
  const hasContent = (folder: string, name: string) =>
    !/^[0-9a-f]{2}$/.test(name) || readdirSync(join(folder, name)).length > 0;
  const isUsed = [data, files].some((folder) =>
    readdirSync(folder).some((name) => !harmless.has(name) && hasContent(folder, name)),
  );
  if (isUsed) throw new BackupError(`${data} already contains data; choose an empty folder, or use --replace.`);
}

async function restoreInto(job: RestoreJob): Promise<BackupReport> {
  const blobs = openDiskBlobs({ folder: job.files, minFree: 0 });
  const written: string[] = [];
  const parts = { database: `${join(job.data, 'poproom.db')}.restored`, secret: `${secretIn(job.data)}.restored` };
  try {
    const found = await unpack(job, { blobs, parts, written });
    const report = await check(parts.database, blobs);
    await putInPlace(job, parts, found.has('secret'));
    return report;
  } catch (error) {
    for (const path of Object.values(parts)) await rm(path, { force: true });
    for (const blob of written) await blobs.remove(blob);
    throw error;
  }
}

interface Target {
  blobs: BlobStore;
  parts: Record<'database' | 'secret', string>;
  /** Receives the names of the blobs that did not exist before. */
  written: string[];
}

/** Returns the names of the entries other than files. */
async function unpack(job: RestoreJob, target: Target): Promise<Set<string>> {
  await using file = await open(job.source, 'r');
  job.onStart((await file.stat()).size);
  const seen = new Set<string>();
  let done = 0;
  for await (const entry of readTar(file)) {
    job.signal.throwIfAborted();
    const name = await unpackEntry(entry, target, job.signal);
    if (name) seen.add(name);
    done += entry.size;
    job.onBytes(done);
  }
  if (!seen.has('poproom.db')) throw new BackupError('The backup contains no database.');
  return seen;
}

/** Returns the name of an entry that is not a file. */
async function unpackEntry(entry: TarEntry, target: Target, signal: AbortSignal): Promise<string | undefined> {
  const { blobs, parts, written } = target;
  const [, blob] = /^files\/([0-9a-f]{64})$/.exec(entry.name) ?? [];
  if (blob !== undefined) {
    if ((await blobs.size(blob)) === undefined) written.push(blob);
    await blobs.put(blob, Readable.from(entry.bytes), entry.size, signal);
    return undefined;
  }
  if (entry.name !== 'poproom.db' && entry.name !== 'secret')
    throw new BackupError(`The backup contains the unknown entry "${entry.name}".`);
  await writeFile(entry.name === 'secret' ? parts.secret : parts.database, entry.bytes);
  return entry.name;
}

async function writeFile(path: string, bytes: AsyncIterable<Buffer>): Promise<void> {
  await using file = await open(path, 'w', 0o600);
  for await (const chunk of bytes) await file.writeFile(chunk);
  await file.sync();
}

async function check(path: string, blobs: BlobStore): Promise<BackupReport> {
  const copy = openCopy(path);
  try {
    if (copy.schema === 'newer') throw new BackupError('The backup was made by a newer version of Poproom.');
    if (!copy.isIntact()) throw new BackupError('The database in the backup is damaged.');
    const report = { rooms: copy.rooms, keys: copy.keys, files: 0, bytes: 0, missing: 0 };
    for (const { blob, size } of copy.files()) {
      if ((await blobs.size(blob)) !== size) throw new BackupError('A file of the backup is missing or incomplete.');
      report.files += 1;
      report.bytes += size;
    }
    return report;
  } finally {
    copy.close();
  }
}

/** Files of replaced rooms are not listed any more; the server removes them. */
async function putInPlace({ data }: RestoreJob, parts: Target['parts'], hasSecret: boolean): Promise<void> {
  const database = join(data, 'poproom.db');
  for (const suffix of ['-wal', '-shm', '-journal']) await rm(database + suffix, { force: true });
  if (hasSecret) await rename(parts.secret, secretIn(data));
  await rename(parts.database, database);
  await using folder = await open(data, 'r');
  await folder.sync();
}
