/** Extracts the files from a paste, a drop or a picker. */
import type { IncomingFile } from '../../room/uploads.ts';

/** Office programs copy an image along with text and HTML. In this case the user wants the text. */
export function pastedFiles(clipboard: DataTransfer | null): IncomingFile[] {
  if (!clipboard || ['text/plain', 'text/html'].every((type) => clipboard.types.includes(type))) return [];
  return Array.from(clipboard.files, (file) => ({ file: withScreenshotName(file) }));
}

/** A picker for folders names the path of each file. */
export function pickedFiles(files: FileList | null): IncomingFile[] {
  return Array.from(files ?? [], (file) => ({ file, folder: folderIn(file.webkitRelativePath) }));
}

/** With the files in dropped folders. Reads the drop before it returns, because the browser clears it after the event. */
export async function droppedFiles(transfer: DataTransfer | null): Promise<IncomingFile[]> {
  const items = Array.from(transfer?.items ?? []).filter(({ kind }) => kind === 'file');
  const found = items.map((item) => {
    const entry = item.webkitGetAsEntry?.();
    if (entry?.isDirectory) return filesIn(entry as FileSystemDirectoryEntry);
    const file = item.getAsFile();
    return file ? [{ file }] : [];
  });
  return (await Promise.all(found)).flat();
}

/** More than any room may have, so the page refuses them all. Reading a whole disk would take minutes. */
const maxRead = 2_000;

async function filesIn(folder: FileSystemDirectoryEntry, found: IncomingFile[] = []): Promise<IncomingFile[]> {
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

/** An image that the page has read from the clipboard. */
export const clipboardImage = (image: File): IncomingFile[] => [{ file: withScreenshotName(image) }];

/** Browsers give all pasted images the same name. */
function withScreenshotName(file: File): File {
  if (!/^image\.(png|jpe?g)$/.test(file.name)) return file;
  const [date, time = ''] = new Date().toISOString().slice(0, 19).split('T');
  const name = `screenshot-${date}-${time.replaceAll(':', '')}.${file.type === 'image/jpeg' ? 'jpg' : 'png'}`;
  return new File([file], name, { type: file.type });
}
