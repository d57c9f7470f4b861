/** Extracts the files from a paste or a drop. */

/** Office programs copy an image along with text and HTML. In this case the user wants the text. */
export function pastedFiles(clipboard: DataTransfer | null): File[] {
  if (!clipboard || ['text/plain', 'text/html'].every((type) => clipboard.types.includes(type))) return [];
  return Array.from(clipboard.files, withScreenshotName);
}

export interface Dropped {
  files: File[];
  /** Whether the drop contained folders, which cannot be uploaded. */
  hasFolders: boolean;
}

export function droppedFiles(transfer: DataTransfer | null): Dropped {
  const entries = Array.from(transfer?.items ?? []).filter(({ kind }) => kind === 'file');
  const isFolder = (item: DataTransferItem) => item.webkitGetAsEntry?.()?.isDirectory ?? false;
  const files = entries.filter((item) => !isFolder(item)).flatMap((item) => item.getAsFile() ?? []);
  return { files, hasFolders: entries.some(isFolder) };
}

/** Browsers give all pasted images the same name. */
function withScreenshotName(file: File): File {
  if (!/^image\.(png|jpe?g)$/.test(file.name)) return file;
  const [date, time = ''] = new Date().toISOString().slice(0, 19).split('T');
  const name = `screenshot-${date}-${time.replaceAll(':', '')}.${file.type === 'image/jpeg' ? 'jpg' : 'png'}`;
  return new File([file], name, { type: file.type });
}
