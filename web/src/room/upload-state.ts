/** The states of an upload, and how events change them. The effects are in uploads.ts. */
import type { PoproomError } from '../../../src/client/light.ts';
import type { Transitions } from './state-machine.ts';

export type UploadState =
  /** Until fewer others are being sent. */
  | { readonly name: 'waiting' }
  | SendingUpload
  | { readonly name: 'failed'; readonly error: PoproomError; readonly canRetry: boolean }
  | { readonly name: 'done'; readonly fileUrl: string }
  | { readonly name: 'cancelled' };

export interface SendingUpload {
  readonly name: 'sending';
  /** Aborts the request. */
  readonly aborter: AbortController;
  /** Bytes. */
  readonly sent: number;
  /** Bytes per second, over about the last second. 0 until it is known. */
  readonly speed: number;
  /** The point in time up to which the speed was measured, in milliseconds, and the bytes sent by then. */
  readonly measured: { readonly at: number; readonly sent: number };
}

export type UploadEvent =
  | { type: 'start'; aborter: AbortController; at: number }
  | { type: 'progress'; sent: number; at: number }
  | { type: 'stored'; fileUrl: string }
  | { type: 'fail'; error: PoproomError }
  | { type: 'retry' }
  | { type: 'cancel' };

const cancel = (): UploadState => ({ name: 'cancelled' });
const fail = (_: UploadState, { error }: Extract<UploadEvent, { type: 'fail' }>): UploadState => ({
  name: 'failed',
  error,
  canRetry: error.code !== 'FILE_TOO_LARGE',
});

export const uploadTransitions: Transitions<UploadState, UploadEvent> = {
  waiting: {
    start: (_, { aborter, at }) => ({ name: 'sending', aborter, sent: 0, speed: 0, measured: { at, sent: 0 } }),
    fail,
    cancel,
  },
  sending: {
    progress: (upload, { sent, at }) => ({ ...upload, sent, ...measureSpeed(upload, sent, at) }),
    stored: (_, { fileUrl }) => ({ name: 'done', fileUrl }),
    fail,
    cancel,
  },
  failed: {
    retry: (upload) => (upload.canRetry ? { name: 'waiting' } : upload),
    cancel,
  },
  done: { cancel },
  cancelled: {},
};

const measureEveryMs = 200;

function measureSpeed({ speed, measured }: SendingUpload, sent: number, at: number) {
  const ms = at - measured.at;
  if (ms < measureEveryMs) return {};
  const current = ((sent - measured.sent) / ms) * 1000;
  return { speed: speed === 0 ? current : 0.6 * speed + 0.4 * current, measured: { at, sent } };
}
