/** The states of saving encrypted files, and how events change them. The effects are in downloads.ts. */
import type { Transitions } from '../../room/state-machine.ts';
import type { FileTarget } from '../files/save-file.ts';

/** A file, or an archive of several. */
export interface DownloadSource {
  readonly name: string;
  /** The media type, for the icon. */
  readonly type: string;
  /** In bytes. */
  readonly size: number;
  /** The decrypted bytes. Reading them fails if they are damaged. */
  open(signal: AbortSignal): Promise<ReadableStream<Uint8Array<ArrayBuffer>>>;
}

export type DownloadState =
  /** Where to save the file: the browser may ask. */
  | { readonly name: 'choosing' }
  | SavingState
  /** Nothing was saved. */
  | { readonly name: 'failed'; readonly message: string }
  /** Saved, cancelled or dismissed. */
  | { readonly name: 'closed' };

export interface SavingState {
  readonly name: 'saving';
  readonly target: FileTarget;
  /** Stops the download. */
  readonly aborter: AbortController;
  readonly bytes: number;
}

export type DownloadEvent =
  | { type: 'start'; target: FileTarget; aborter: AbortController }
  | { type: 'progress'; bytes: number }
  | { type: 'fail'; message: string }
  | { type: 'retry' }
  | { type: 'close' };

const fail = (_: DownloadState, { message }: { message: string }): DownloadState => ({ name: 'failed', message });
const close = (): DownloadState => ({ name: 'closed' });

export const downloadTransitions: Transitions<DownloadState, DownloadEvent> = {
  choosing: {
    start: (_, { target, aborter }) => ({ name: 'saving', target, aborter, bytes: 0 }),
    fail,
    close,
  },
  saving: { progress: (state, { bytes }) => ({ ...state, bytes }), fail, close },
  failed: { retry: () => ({ name: 'choosing' }), close },
  closed: {},
};
