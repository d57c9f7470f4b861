/** Extracts the files from a paste, a drop or a picker. */
import type { IncomingFile } from '../../room/uploads.ts';
import { loadUploadParts } from './add-files.ts';

/** Office programs copy an image along with text and HTML. In this case the user wants the text. */
export function pastedFiles(clipboard: DataTransfer | null): IncomingFile[] {
  if (!clipboard || ['text/plain', 'text/html'].every((type) => clipboard.types.includes(type))) return [];
  return Array.from(clipboard.files, (file) => ({ file, isPasted: true }));
}

/** A picker for folders names the path of each file: "photos/2026/a.jpg". */
export function pickedFiles(files: FileList | null): IncomingFile[] {
  return Array.from(files ?? [], (file) => ({ file, folder: file.webkitRelativePath.replace(/\/?[^/]*$/, '') }));
}

/** With the files in dropped folders. Reads the drop before it returns, because the browser clears it after the event. */
export async function droppedFiles(transfer: DataTransfer | null): Promise<IncomingFile[]> {
  const items = Array.from(transfer?.items ?? []).filter(({ kind }) => kind === 'file');
  const found = items.map((item) => {
    const entry = item.webkitGetAsEntry?.();
    if (entry?.isDirectory) return readFolder(entry as FileSystemDirectoryEntry);
    const file = item.getAsFile();
    return file ? [{ file }] : [];
  });
  return (await Promise.all(found)).flat();
}

const readFolder = async (folder: FileSystemDirectoryEntry): Promise<IncomingFile[]> =>
  (await loadUploadParts()).filesIn(folder);
