/** Uploads of files to the room. */
import { type Signal, signal } from '@preact/signals';
import { PoproomError, type RoomBase } from '../../../src/client/light.ts';
import { noteRateLimit } from './request-limit.ts';

export type Upload = {
  readonly id: number;
  readonly file: File;
  readonly name: string;
  readonly state: Signal<UploadState>;
  /** Bytes. */
  readonly sent: Signal<number>;
  /** Bytes per second, smoothed. */
  readonly speed: Signal<number>;
};

export type UploadState =
  | { status: 'waiting' | 'sending' }
  /** Until the room's file list contains it. */
  | { status: 'stored'; fileUrl: string }
  | { status: 'refused' | 'failed'; error: PoproomError };

export interface Uploads {
  readonly list: Signal<readonly Upload[]>;
  add(files: Iterable<File>): void;
  /** Aborts the upload and removes it from the list. */
  cancel(upload: Upload): void;
  retry(upload: Upload): void;
  /** Removes the uploads that appear in the room's file list. */
  onFilesListed(fileUrls: readonly string[]): void;
  cancelAll(): void;
}

const maxConcurrent = 2;

export function createUploads(room: () => RoomBase, maxFileSize: number): Uploads {
  const list = signal<readonly Upload[]>([]);
  const aborters = new Map<Upload, AbortController>();
  /** The URLs of all files that have been in the room's list. */
  const listedUrls = new Set<string>();
  let count = 0;

  function startNext(): void {
    const next = list.value.find(({ state }) => state.value.status === 'waiting');
    if (!next || aborters.size >= maxConcurrent) return;
    void send(next);
    startNext();
  }

  async function send(upload: Upload): Promise<void> {
    const aborter = new AbortController();
    aborters.set(upload, aborter);
    upload.state.value = { status: 'sending' };
    try {
      const onProgress = trackProgress(upload);
      const { fileUrl } = await room().upload(upload.file, { name: upload.name, onProgress, signal: aborter.signal });
      upload.state.value = { status: 'stored', fileUrl };
    } catch (error) {
      if (error instanceof PoproomError) {
        upload.state.value = { status: 'failed', error };
        noteRateLimit(error);
      }
    }
    aborters.delete(upload);
    removeStored();
    startNext();
  }

  function removeStored(): void {
    list.value = list.value.filter(
      ({ state: { value } }) => value.status !== 'stored' || !listedUrls.has(value.fileUrl),
    );
  }

  function cancel(upload: Upload): void {
    list.value = list.value.filter((other) => other !== upload);
    aborters.get(upload)?.abort();
    aborters.delete(upload);
    startNext();
  }

  return {
    list,
    cancel,

    add(files) {
      list.value = [...list.value, ...Array.from(files, (file) => newUpload(++count, file, maxFileSize))];
      startNext();
    },

    retry(upload) {
      upload.sent.value = 0;
      upload.state.value = { status: 'waiting' };
      startNext();
    },

    onFilesListed(fileUrls) {
      for (const url of fileUrls) listedUrls.add(url);
      removeStored();
    },

    cancelAll() {
      const all = list.value;
      // Empty the list first, so that cancelling one upload does not start the next.
      list.value = [];
      for (const upload of all) cancel(upload);
    },
  };
}

function newUpload(id: number, file: File, maxFileSize: number): Upload {
  const tooLarge = file.size > maxFileSize;
  const error = new PoproomError('FILE_TOO_LARGE', 'The file exceeds the size limit.');
  return {
    id,
    file,
    name: file.name || 'file',
    state: signal<UploadState>(tooLarge ? { status: 'refused', error } : { status: 'waiting' }),
    sent: signal(0),
    speed: signal(0),
  };
}

/** Updates the progress, and the speed over about the last second. */
function trackProgress({ sent, speed }: Upload): (bytes: number) => void {
  let [lastAt, lastSent] = [performance.now(), 0];
  return (bytes) => {
    sent.value = bytes;
    const seconds = (performance.now() - lastAt) / 1000;
    if (seconds < 0.2) return;
    const now = (bytes - lastSent) / seconds;
    speed.value = speed.value === 0 ? now : 0.6 * speed.value + 0.4 * now;
    [lastAt, lastSent] = [performance.now(), bytes];
  };
}
