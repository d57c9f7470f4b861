/** The states of receiving a one-time file, and how events change them. The effects are in receive-file.ts. */
import type { Transitions } from '../../room/state-machine.ts';
import type { FileTarget } from './save-file.ts';

export type ReceiveState =
  /** Until the user confirms. */
  | { readonly name: 'asking' }
  /** The browser asks where to save the file. */
  | { readonly name: 'choosing' }
  | ReceivingState
  /** The file was not saved. */
  | { readonly name: 'failed'; readonly message: string }
  | ReceivedState
  | { readonly name: 'closed' };

export interface ReceivingState {
  readonly name: 'receiving';
  readonly target: FileTarget;
  /** Stops the download, and gives the file back. */
  readonly aborter: AbortController;
  readonly bytes: number;
}

interface ReceivedState {
  readonly name: 'received';
  /** Whether the server knows. Otherwise, the file is available to others again when the claim expires. */
  readonly isConfirmed: boolean;
  /** Of the file, if the browser saves it from memory. */
  readonly blobUrl: string | undefined;
}

export type ReceiveEvent =
  | { type: 'choose' }
  | { type: 'dismiss' }
  | { type: 'start'; target: FileTarget; aborter: AbortController }
  | { type: 'progress'; bytes: number }
  | { type: 'fail'; message: string }
  | { type: 'saved'; isConfirmed: boolean; blobUrl: string | undefined }
  | { type: 'close' };

const choose = (): ReceiveState => ({ name: 'choosing' });
const close = (): ReceiveState => ({ name: 'closed' });

export const receiveTransitions: Transitions<ReceiveState, ReceiveEvent> = {
  asking: { choose, close },
  choosing: {
    dismiss: () => ({ name: 'asking' }),
    start: (_, { target, aborter }) => ({ name: 'receiving', target, aborter, bytes: 0 }),
    close,
  },
  receiving: {
    progress: (state, { bytes }) => ({ ...state, bytes }),
    fail: (_, { message }) => ({ name: 'failed', message }),
    saved: (_, { isConfirmed, blobUrl }) => ({ name: 'received', isConfirmed, blobUrl }),
    close,
  },
  failed: { choose, close },
  received: { close },
  closed: {},
};
