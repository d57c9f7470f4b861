/** The files in a dropped folder. */
import type { IncomingFile } from '../../room/uploads.ts';

/** More than any room may have, so the page refuses them all. Reading a whole disk would take minutes. */
const maxRead = 2_000;

export async function filesIn(folder: FileSystemDirectoryEntry, found: IncomingFile[] = []): Promise<IncomingFile[]> {
  for (const entry of await entriesOf(folder)) {
    if (found.length >= maxRead) break;
    if (entry.isDirectory) await filesIn(entry as FileSystemDirectoryEntry, found);
    else found.push({ file: await fileOf(entry as FileSystemFileEntry), folder: folderIn(entry.fullPath) });
  }
  return found;
}

/** Browsers return the entries of a folder in batches. */
async function entriesOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const readBatch = () => new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
  const entries: FileSystemEntry[] = [];
  for (let batch = await readBatch(); batch.length > 0; batch = await readBatch()) entries.push(...batch);
  return entries.sort((one, other) => one.name.localeCompare(other.name));
}

const fileOf = (entry: FileSystemFileEntry): Promise<File> =>
  new Promise((resolve, reject) => entry.file(resolve, reject));

/** "photos/2026" of "/photos/2026/a.jpg". */
const folderIn = (path: string): string => path.replace(/^\//, '').replace(/\/?[^/]*$/, '');
