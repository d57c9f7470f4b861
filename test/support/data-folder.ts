/** The data folder of the embedded engine: its database, and finished and unfinished uploads. */
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connect } from '../../src/store/sqlite/database.ts';
import { migrate } from '../../src/store/sqlite/schema.ts';

let emptyDatabase: Promise<Uint8Array> | undefined;

/**
 * Creates the database that the first start of a server would create. It is a copy, because the migration steps take
 * 15 ms of CPU time. Tests of processes run them for each database.
 */
export async function createDatabase(dataFolder: string): Promise<void> {
  const path = join(dataFolder, 'poproom.db');
  emptyDatabase ??= migratedDatabase(path);
  await writeFile(path, await emptyDatabase, { mode: 0o600 });
}

async function migratedDatabase(path: string): Promise<Uint8Array> {
  const db = connect(path);
  migrate(db);
  db.close();
  const bytes = await readFile(path);
  await rm(path);
  return bytes;
}

/** Paths of all files under `files/`, including unfinished ones. */
export async function storedBlobs(dataFolder: string): Promise<string[]> {
  const entries = await readdir(join(dataFolder, 'files'), { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ name, parentPath }) => join(parentPath, name));
}

export async function unfinishedBlobs(dataFolder: string): Promise<string[]> {
  return readdir(join(dataFolder, 'files', 'unfinished'));
}
