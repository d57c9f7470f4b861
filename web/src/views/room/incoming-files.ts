/** The files in a paste or a drop. */

/** Office programs add a picture to the text and the markup of what is copied; who pastes that means the text. */
export function pastedFiles(clipboard: DataTransfer | null): File[] {
  if (!clipboard || ['text/plain', 'text/html'].every((type) => clipboard.types.includes(type))) return [];
  return Array.from(clipboard.files, withTellingName);
}

export interface Dropped {
  files: File[];
  /** Whether there were folders, which cannot be sent. */
  folders: boolean;
}

export function droppedFiles(transfer: DataTransfer | null): Dropped {
  const entries = Array.from(transfer?.items ?? []).filter(({ kind }) => kind === 'file');
  const isFolder = (item: DataTransferItem) => item.webkitGetAsEntry?.()?.isDirectory ?? false;
  const files = entries.filter((item) => !isFolder(item)).flatMap((item) => item.getAsFile() ?? []);
  return { files, folders: entries.some(isFolder) };
}

/** Browsers call every pasted picture the same. */
function withTellingName(file: File): File {
  if (!/^image\.(png|jpe?g)$/.test(file.name)) return file;
  const [date, time = ''] = new Date().toISOString().slice(0, 19).split('T');
  const name = `screenshot-${date}-${time.replaceAll(':', '')}.${file.type === 'image/jpeg' ? 'jpg' : 'png'}`;
  return new File([file], name, { type: file.type });
}
