/** Files on their way into the room. */
import { type Signal, signal } from '@preact/signals';
import { PoproomError, type RoomBase } from '../../../src/client/light.ts';
import { noteRefusal } from './request-limit.ts';

export type Upload = {
  readonly id: number;
  readonly file: File;
  readonly name: string;
  readonly state: Signal<UploadState>;
  /** Bytes. */
  readonly sent: Signal<number>;
  /** Bytes a second, smoothed. */
  readonly speed: Signal<number>;
};

export type UploadState =
  | { at: 'waiting' | 'sending' }
  /** Until the room's own list has it. */
  | { at: 'stored'; fileUrl: string }
  | { at: 'refused' | 'failed'; error: PoproomError };

export interface Uploads {
  readonly list: Signal<readonly Upload[]>;
  add(files: Iterable<File>): void;
  /** Stops it, wherever it is, and takes it off the list. */
  cancel(upload: Upload): void;
  retry(upload: Upload): void;
  /** Takes those off the list that the room has now, or had meanwhile. */
  arrived(fileUrls: readonly string[]): void;
  cancelAll(): void;
}

const atOnce = 2;

export function createUploads(room: () => RoomBase, largestFile: number): Uploads {
  const list = signal<readonly Upload[]>([]);
  const aborters = new Map<Upload, AbortController>();
  /** The addresses of files that the room has, or had. */
  const known = new Set<string>();
  let count = 0;

  function startNext(): void {
    const next = list.value.find(({ state }) => state.value.at === 'waiting');
    if (!next || aborters.size >= atOnce) return;
    void send(next);
    startNext();
  }

  async function send(upload: Upload): Promise<void> {
    const aborter = new AbortController();
    aborters.set(upload, aborter);
    upload.state.value = { at: 'sending' };
    try {
      const onProgress = meter(upload);
      const { fileUrl } = await room().upload(upload.file, { name: upload.name, onProgress, signal: aborter.signal });
      upload.state.value = { at: 'stored', fileUrl };
    } catch (error) {
      if (error instanceof PoproomError) {
        upload.state.value = { at: 'failed', error };
        noteRefusal(error);
      }
    }
    aborters.delete(upload);
    dropStored();
    startNext();
  }

  function dropStored(): void {
    list.value = list.value.filter(({ state: { value } }) => value.at !== 'stored' || !known.has(value.fileUrl));
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
      list.value = [...list.value, ...Array.from(files, (file) => newUpload(++count, file, largestFile))];
      startNext();
    },

    retry(upload) {
      upload.sent.value = 0;
      upload.state.value = { at: 'waiting' };
      startNext();
    },

    arrived(fileUrls) {
      for (const url of fileUrls) known.add(url);
      dropStored();
    },

    cancelAll() {
      const all = list.value;
      // None is left that could take the place of another.
      list.value = [];
      for (const upload of all) cancel(upload);
    },
  };
}

function newUpload(id: number, file: File, largest: number): Upload {
  const tooLarge = file.size > largest;
  const error = new PoproomError('FILE_TOO_LARGE', 'The file is over the limit.');
  return {
    id,
    file,
    name: file.name || 'file',
    state: signal<UploadState>(tooLarge ? { at: 'refused', error } : { at: 'waiting' }),
    sent: signal(0),
    speed: signal(0),
  };
}

/** Notes progress, and the speed over about the last second. */
function meter({ sent, speed }: Upload): (bytes: number) => void {
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
