/** Where to save a decrypted file, so that a large one is not held in memory. */
import { forwardedTo } from '../../base-path.ts';
import { chooseTarget, type FileTarget, memoryTarget, startDownload } from '../files/save-file.ts';
import type { DownloadSource } from './download-state.ts';

/** Smaller files are decrypted in memory, so that a click is enough. */
const smallBytes = 64 * 1024 * 1024;
/** A browser that cannot write to the disk may fail on larger ones. */
export const maxMemoryBytes = 512 * 1024 * 1024;

/** Undefined if the user cancels. */
export async function chooseSealedTarget({
  name,
  size,
}: Pick<DownloadSource, 'name' | 'size'>): Promise<FileTarget | 'too-large' | undefined> {
  if (size <= smallBytes) return memoryTarget(name);
  if ('showSaveFilePicker' in window) return chooseTarget(name);
  if (hasPrivateFiles()) return privateTarget(name);
  return size <= maxMemoryBytes ? memoryTarget(name) : 'too-large';
}

const folderName = 'decrypted';
/** The browser copies the file to its downloads in this time. */
const keptMs = 60 * 60 * 1000;

/** Only in secure contexts, and not in all browsers. The browser keeps nothing of the page of `poproom ui`. */
const hasPrivateFiles = () =>
  !forwardedTo &&
  typeof navigator.storage?.getDirectory === 'function' &&
  'createWritable' in (globalThis.FileSystemFileHandle?.prototype ?? {});

/** Decrypts into the private files of this origin, from where the browser downloads the file. */
function privateTarget(name: string): FileTarget {
  const entry = `${Date.now()}-${Math.random()}`;
  const remove = async () => (await folder()).removeEntry(entry).catch(() => undefined);
  return {
    async save(body) {
      await removeOld();
      const handle = await (await folder()).getFileHandle(entry, { create: true });
      await body.pipeTo(await handle.createWritable());
      const file = new Blob([await handle.getFile()], { type: 'application/octet-stream' });
      startDownload(URL.createObjectURL(file), name);
      setTimeout(remove, keptMs);
      // Not revoked: the browser may need long to copy it.
      return { blobUrl: undefined };
    },
    discard: remove,
  };
}

const folder = async () => (await navigator.storage.getDirectory()).getDirectoryHandle(folderName, { create: true });

/** Removes files that a closed page has left. */
export async function removeOld(): Promise<void> {
  if (!hasPrivateFiles()) return;
  const root = await navigator.storage.getDirectory();
  const old = await root.getDirectoryHandle(folderName).catch(() => undefined);
  const names = old as unknown as { keys(): AsyncIterableIterator<string> } | undefined;
  if (!old || !names) return;
  for await (const name of names.keys())
    if (Date.now() - Number.parseInt(name, 10) > keptMs) await old.removeEntry(name).catch(() => undefined);
}
