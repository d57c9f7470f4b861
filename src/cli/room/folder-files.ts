/** Lists the files below a folder, sorted by path. */
import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { withFileErrors } from '../file-error.ts';
import { printable } from '../printable.ts';

export interface FolderFile {
  path: string;
  /** The path of its folder in the room, which begins with the name of the listed folder. */
  folder: string;
}

export function listFolder(path: string): Promise<FolderFile[]> {
  return listBelow(path, basename(resolve(path)));
}

async function listBelow(path: string, folder: string): Promise<FolderFile[]> {
  const entries = await withFileErrors(path, () => readdir(path, { withFileTypes: true }));
  const files: FolderFile[] = [];
  for (const entry of entries.sort(byName)) {
    const entryPath = join(path, entry.name);
    if (entry.isDirectory())
      files.push(...(await listBelow(entryPath, folder ? `${folder}/${entry.name}` : entry.name)));
    else if (entry.isFile()) files.push({ path: entryPath, folder });
    else console.error(`Skipped ${printable(entryPath)}: ${reasonToSkip(entry)}.`);
  }
  return files;
}

const byName = (a: Dirent, b: Dirent) => (a.name < b.name ? -1 : 1);

/** A symbolic link could lead to files that the user did not mean to send. */
const reasonToSkip = (entry: Dirent) =>
  entry.isSymbolicLink() ? 'symbolic links are not followed' : 'it is not a regular file';
