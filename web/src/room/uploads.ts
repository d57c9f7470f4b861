/** Uploads of files to the room. */
import { type ReadonlySignal, signal } from '@preact/signals';
import { PoproomError, type RoomBase } from '../../../src/client/light.ts';
import { noteFailure } from './request-limit.ts';
import { createStateMachine, type StateMachine } from './state-machine.ts';
import { type UploadEvent, type UploadState, uploadTransitions } from './upload-state.ts';

export interface Upload extends StateMachine<UploadState, UploadEvent> {
  readonly file: File;
  readonly name: string;
}

export interface Uploads {
  /** Without the cancelled ones, and without those that appear in the room's file list. */
  readonly list: ReadonlySignal<readonly Upload[]>;
  add(files: Iterable<File>): void;
  /** Call it when the room's file list has changed. */
  onFilesListed(fileUrls: readonly string[]): void;
  cancelAll(): void;
}

const maxConcurrent = 2;

export function createUploads(room: () => RoomBase, maxFileSize: number): Uploads {
  const list = signal<readonly Upload[]>([]);
  /** The URLs of all files that have been in the room's list. */
  const listedUrls = new Set<string>();

  function createUpload(file: File): Upload {
    const machine = createStateMachine(uploadTransitions, { name: 'waiting' }, onTransition);
    const upload = { file, name: file.name || 'file', ...machine };
    if (file.size > maxFileSize) upload.send({ type: 'fail', error: new PoproomError('FILE_TOO_LARGE', file.name) });
    return upload;

    function onTransition(before: UploadState, after: UploadState): void {
      if (before.name === after.name) return;
      if (before.name === 'sending') before.aborter.abort();
      if (after.name === 'sending') void transfer(upload, room(), after.aborter.signal);
      removeFinished();
      startNext();
    }
  }

  function removeFinished(): void {
    list.value = list.value.filter(
      ({ state: { value } }) =>
        !(value.name === 'cancelled' || (value.name === 'done' && listedUrls.has(value.fileUrl))),
    );
  }

  function startNext(): void {
    const inState = (name: UploadState['name']) => list.value.filter(({ state }) => state.value.name === name);
    if (inState('sending').length >= maxConcurrent) return;
    inState('waiting')[0]?.send({ type: 'start', aborter: new AbortController(), at: performance.now() });
  }

  return {
    list,

    add(files) {
      list.value = [...list.value, ...Array.from(files, createUpload)];
      startNext();
    },

    onFilesListed(fileUrls) {
      for (const url of fileUrls) listedUrls.add(url);
      removeFinished();
    },

    cancelAll() {
      const all = list.value;
      // Empty the list first, so that cancelling one upload does not start the next.
      list.value = [];
      for (const upload of all) upload.send({ type: 'cancel' });
    },
  };
}

async function transfer({ file, name, send }: Upload, room: RoomBase, signal: AbortSignal): Promise<void> {
  const onProgress = (sent: number) => send({ type: 'progress', sent, at: performance.now() });
  try {
    const { fileUrl } = await room.upload(file, { name, onProgress, signal });
    send({ type: 'stored', fileUrl });
  } catch (cause) {
    if (!signal.aborted) send({ type: 'fail', error: noteFailure(cause) });
  }
}
