/** Saves a received file: on disk where the browser lets a page write there, otherwise as a download from memory. */
import { startDownload } from './download-files.ts';

export interface SavedFile {
  /** To save it again, if the browser has saved it from memory. */
  readonly blobUrl: string | undefined;
}

export interface FileTarget {
  /** Resolves when the whole file is saved. */
  save(body: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<SavedFile>;
  /** Removes what a failed `save` has left. */
  discard(): Promise<void>;
}

/** The part of the File System Access API that TypeScript does not know. */
interface WritableHandle extends FileSystemFileHandle {
  remove?(): Promise<void>;
}
type ShowSaveFilePicker = (options: { suggestedName: string }) => Promise<WritableHandle>;

/** Asks where to save the file, if the browser can. Returns undefined if the user cancels. */
export async function chooseTarget(name: string): Promise<FileTarget | undefined> {
  const { showSaveFilePicker } = window as { showSaveFilePicker?: ShowSaveFilePicker };
  if (!showSaveFilePicker) return memoryTarget(name);
  try {
    return diskTarget(await showSaveFilePicker({ suggestedName: name }));
  } catch (error) {
    // The browser may refuse the name or the dialog.
    return error instanceof DOMException && error.name === 'AbortError' ? undefined : memoryTarget(name);
  }
}

function diskTarget(handle: WritableHandle): FileTarget {
  return {
    async save(body) {
      await body.pipeTo(await handle.createWritable());
      return { blobUrl: undefined };
    },
    // The dialog has created an empty file, which would look like the received one.
    async discard() {
      const isEmpty = await handle.getFile().then(
        ({ size }) => size === 0,
        () => false,
      );
      if (isEmpty) await handle.remove?.().catch(() => undefined);
    },
  };
}

function memoryTarget(name: string): FileTarget {
  return {
    async save(body) {
      const blob = await new Response(body).blob();
      // Never the type of the file: as HTML it would run on this origin.
      const blobUrl = URL.createObjectURL(new Blob([blob], { type: 'application/octet-stream' }));
      startDownload(blobUrl, name);
      return { blobUrl };
    },
    discard: async () => undefined,
  };
}

/** Reports how many bytes have passed. */
export function countBytes(onBytes: (bytes: number) => void): TransformStream<Uint8Array, Uint8Array<ArrayBuffer>> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk: Uint8Array<ArrayBuffer>, controller) {
      bytes += chunk.byteLength;
      onBytes(bytes);
      controller.enqueue(chunk);
    },
  });
}
