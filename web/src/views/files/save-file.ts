/** Saves a received file: on disk where the browser lets a page write there, otherwise as a download from memory. */

/** `blobUrl`: to save it again, if the browser has saved it from memory. */
export type SavedFile = { readonly blobUrl: string | undefined };

export interface FileTarget {
  /** Resolves when the whole file is saved. */
  save(body: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<SavedFile>;
  /** Removes what a failed `save` has left. */
  discard(): Promise<void>;
}

/** The part of the File System Access API that TypeScript does not know. */
type WritableHandle = FileSystemFileHandle & { remove?(): Promise<void> };
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
      const file = await handle.getFile().catch(() => undefined);
      if (file?.size === 0) await handle.remove?.().catch(() => undefined);
    },
  };
}

export function memoryTarget(name: string): FileTarget {
  return {
    async save(body) {
      // Never the type of the file: as HTML it would run on this origin.
      const blobUrl = URL.createObjectURL(await collectBlob(body, 'application/octet-stream'));
      startDownload(blobUrl, name);
      return { blobUrl };
    },
    discard: async () => undefined,
  };
}

const partBytes = 16 * 1024 * 1024;

/** Reads a stream into a Blob, in parts that the browser can keep on disk. Fails with the error of the stream. */
export async function collectBlob(body: ReadableStream<Uint8Array<ArrayBuffer>>, type: string): Promise<Blob> {
  const reader = body.getReader();
  const parts: Blob[] = [];
  let chunks: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    chunks.push(next.value);
    bytes += next.value.length;
    if (bytes < partBytes) continue;
    parts.push(new Blob(chunks));
    [chunks, bytes] = [[], 0];
  }
  return new Blob([...parts, ...chunks], { type });
}

/** Without a name, the browser uses that of the response. */
export const startDownload = (href: string, download: string): void =>
  Object.assign(document.createElement('a'), { href, download }).click();

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
