/** The uploads of a room. The code that sends files is loaded with the first of them. */
import { computed, signal } from '@preact/signals';
import type { UploadsOptions } from './upload-queue.ts';
import type { IncomingFile, Uploads } from './upload-state.ts';

export const loadUploads = () => import('./upload-queue.ts');

/** `onLoadFailed` is called if files have to wait for the connection, because their code cannot be loaded. */
export function openUploads(options: UploadsOptions, onLoadFailed: () => void): Uploads {
  const loaded = signal<Uploads | undefined>(undefined);
  const addsOnce = signal(false);
  const listedUrls = new Set<string>();
  let isConnected = true;

  /** Files that were added before the code was loaded. If that fails, they wait for the connection. */
  const waiting: IncomingFile[] = [];

  async function addWaiting(): Promise<void> {
    if (waiting.length === 0) return;
    const { createUploads } = await loadUploads();
    loaded.value ??= createUploads(options, { addsOnce, isConnected: () => isConnected, listedUrls });
    loaded.value.add(waiting.splice(0));
  }

  return {
    list: computed(() => loaded.value?.list.value ?? []),
    areUnfinished: computed(() => loaded.value?.areUnfinished.value ?? false),
    addsOnce,
    add(files) {
      waiting.push(...files);
      addWaiting().catch(onLoadFailed);
    },
    onFilesListed(fileUrls) {
      for (const url of fileUrls) listedUrls.add(url);
      loaded.peek()?.onFilesListed(fileUrls);
    },
    onDisconnected() {
      isConnected = false;
      loaded.peek()?.onDisconnected();
    },
    onConnected() {
      isConnected = true;
      loaded.peek()?.onConnected();
      addWaiting().catch(onLoadFailed);
    },
    cancelAll() {
      waiting.length = 0;
      loaded.peek()?.cancelAll();
    },
  };
}
