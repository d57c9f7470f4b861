/** Finished and unfinished uploads in the data folder of the embedded engine. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** Paths of all files under `files/`, including unfinished ones. */
export async function storedBlobs(dataFolder: string): Promise<string[]> {
  const entries = await readdir(join(dataFolder, 'files'), { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ name, parentPath }) => join(parentPath, name));
}

export async function unfinishedBlobs(dataFolder: string): Promise<string[]> {
  return readdir(join(dataFolder, 'files', 'unfinished'));
}
