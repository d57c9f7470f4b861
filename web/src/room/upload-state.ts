/** The uploads of a room, the states of one, and how events change them. The effects are in upload-queue.ts. */
import type { ReadonlySignal, Signal } from '@preact/signals';
import type { PoproomError } from '../../../src/client/error.ts';
import type { StateMachine, Transitions } from './state-machine.ts';

export interface IncomingFile {
  readonly file: File;
  /** The path of its folder, such as `photos/2026`. */
  readonly folder?: string | undefined;
  readonly isPasted?: boolean;
}

export interface Upload extends IncomingFile, StateMachine<UploadState, UploadEvent> {
  readonly name: string;
  /** Whether the file is deleted after its first download. */
  readonly once: boolean;
  readonly id: UploadId;
  readonly batch: UploadBatch;
}

/** Files that were added together. */
export interface UploadBatch {
  /** Whether their uploads do not count as requests. */
  readonly hasTicket: boolean;
  nextTicket(): Promise<string | undefined>;
}

export interface Uploads {
  /** Without the cancelled ones, and without those that appear in the room's file list. */
  readonly list: ReadonlySignal<readonly Upload[]>;
  /** Whether leaving would cancel one. */
  readonly areUnfinished: ReadonlySignal<boolean>;
  /** Whether the next files are one-time files. Adding files resets it. */
  readonly addsOnce: Signal<boolean>;
  add(files: Iterable<IncomingFile>): void;
  /** Call it when the room's file list has changed. */
  onFilesListed(fileUrls: readonly string[]): void;
  onDisconnected(): void;
  onConnected(): void;
  cancelAll(): void;
}

export interface UploadId {
  value: string | undefined;
}

export type UploadState =
  /** Until fewer others are being sent. */
  | { readonly name: 'waiting' }
  /** Until the room is connected again. `error`: that of the request that was interrupted, if it failed first. */
  | { readonly name: 'offline'; readonly error: PoproomError | undefined }
  /** Until this device may send requests again, in milliseconds. */
  | { readonly name: 'limited'; readonly until: number }
  /** Asks the server how much of the file it has. */
  | { readonly name: 'resuming'; readonly aborter: AbortController }
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
  /** The progress of the last seconds, oldest first; see `speedOf`. */
  readonly samples: readonly Sample[];
}

interface Sample {
  /** Milliseconds. */
  readonly at: number;
  readonly sent: number;
}

export type UploadEvent =
  | { type: 'start'; aborter: AbortController; at: number }
  /** Like `start`, for an upload that the server knows. */
  | { type: 'resume'; aborter: AbortController }
  | { type: 'progress'; sent: number; at: number }
  | { type: 'stored'; fileUrl: string }
  /** No requests are left until then. */
  | { type: 'limit'; until: number }
  | { type: 'disconnect'; error?: PoproomError }
  | { type: 'reconnect' }
  | { type: 'fail'; error: PoproomError }
  | { type: 'retry' }
  | { type: 'cancel' };

type EventOf<Type extends UploadEvent['type']> = Extract<UploadEvent, { type: Type }>;

const cancel = (): UploadState => ({ name: 'cancelled' });
const wait = (): UploadState => ({ name: 'waiting' });
const disconnect = (_: UploadState, { error }: EventOf<'disconnect'>): UploadState => ({ name: 'offline', error });
const limit = (_: UploadState, { until }: EventOf<'limit'>): UploadState => ({ name: 'limited', until });
const stored = (_: UploadState, { fileUrl }: EventOf<'stored'>): UploadState => ({ name: 'done', fileUrl });
const send = (aborter: AbortController, sent: number, at: number): UploadState => ({
  name: 'sending',
  aborter,
  sent,
  samples: [{ at, sent }],
});
const fail = (_: UploadState, { error }: EventOf<'fail'>): UploadState => ({
  name: 'failed',
  error,
  canRetry: !/^FILE_(TOO_LARGE|CHANGED)$/.test(error.code),
});

const interruptions = { limit, disconnect, fail, cancel };

export const uploadTransitions: Transitions<UploadState, UploadEvent> = {
  waiting: {
    start: (_, { aborter, at }) => send(aborter, 0, at),
    resume: (_, { aborter }) => ({ name: 'resuming', aborter }),
    ...interruptions,
  },
  offline: { reconnect: wait, fail, cancel },
  limited: { retry: wait, cancel },
  resuming: { progress: ({ aborter }, { sent, at }) => send(aborter, sent, at), stored, ...interruptions },
  sending: {
    progress: (upload, { sent, at }) => ({ ...upload, sent, samples: addSample(upload.samples, { at, sent }) }),
    stored,
    ...interruptions,
  },
  failed: { retry: (upload) => (upload.canRetry ? wait() : upload), cancel },
  done: { cancel },
  cancelled: {},
};

/** Whether leaving the room would lose it. */
export const isUnfinished = ({ name }: UploadState): boolean =>
  name === 'waiting' || name === 'limited' || name === 'offline' || name === 'resuming' || name === 'sending';

const windowMs = 5_000;
const shortestMs = 500;

/** Bytes per second over the last five seconds. Undefined if it is not known yet. */
export function speedOf({ samples }: SendingUpload, now: number): number | undefined {
  const first = samples.find(({ at }) => now - at <= windowMs);
  const last = samples.at(-1);
  if (!first || !last || now - first.at < shortestMs) return undefined;
  return ((last.sent - first.sent) / (now - first.at)) * 1000;
}

/** Starts again when the server has less than was sent: a part of it was lost. */
function addSample(samples: readonly Sample[], sample: Sample): readonly Sample[] {
  const isBehind = sample.sent < (samples.at(-1)?.sent ?? 0);
  return [...samples.filter(({ at }) => !isBehind && sample.at - at <= windowMs), sample];
}
