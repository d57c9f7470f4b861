/** Uploads of files to the room; see lazy-uploads.ts. */
import { computed, type Signal, signal } from '@preact/signals';
import { PoproomError } from '../../../src/client/error.ts';
import type { RoomBase } from '../../../src/client/room.ts';
import { announceUploads } from '../../../src/client/upload.ts';
import { isString, sessionStore } from '../device/storage.ts';
import { checkRequestLimit, limitedUntil, noteFailure } from '../server-connection.ts';
import type { RoomContent } from './room-phase.ts';
import { largestFile, type SizedUpload, spaceLeft } from './space-left.ts';
import { createStateMachine } from './state-machine.ts';
import type { IncomingFile, Upload, UploadBatch, UploadEvent, UploadId, UploadState, Uploads } from './upload-state.ts';
import { isUnfinished, uploadTransitions } from './upload-state.ts';

export interface UploadsOptions {
  code: string;
  /** The room's API. */
  requests: () => Promise<RoomBase>;
  /** The limits and the files of the room. */
  content: () => RoomContent;
  /** Makes a text unreadable in an encrypted room, to store it. Undefined if the keys are not known. */
  hide: (text: string) => string | undefined;
  /** Lets the server delete what it has received. */
  discard: (uploadId: string) => void;
}

/** The state of the room that uploads depend on, which can change before their code is loaded. */
interface UploadsContext {
  readonly addsOnce: Signal<boolean>;
  readonly isConnected: () => boolean;
  /** The URLs of all files that have been in the room's list. */
  readonly listedUrls: ReadonlySet<string>;
}

const maxConcurrent = 2;
/** A lost connection may end a request before the live channel notices it. */
const noticeMs = 3_000;

export function createUploads(options: UploadsOptions, { addsOnce, isConnected, listedUrls }: UploadsContext): Uploads {
  const { code, requests, content, hide, discard } = options;
  const list = signal<readonly Upload[]>([]);
  let limitTimer: ReturnType<typeof setTimeout> | undefined;

  function createUpload({ file: incoming, folder, isPasted }: IncomingFile, batch: UploadBatch): Upload {
    const file = isPasted ? withScreenshotName(incoming) : incoming;
    const once = addsOnce.value;
    const id = uploadIdFor(code, { file, folder, once }, hide);
    const machine = createStateMachine(uploadTransitions, { name: 'waiting' }, onTransition);
    const upload = { file, folder, name: file.name || 'file', once, id, batch, ...machine };
    return upload;

    function onTransition(before: UploadState, after: UploadState): void {
      if (before.name === after.name || (before.name === 'resuming' && after.name === 'sending')) return;
      if ('aborter' in before) before.aborter.abort();
      onEnter(upload, after);
      removeFinished();
      startNext();
    }
  }

  function onEnter(upload: Upload, state: UploadState): void {
    const { id } = upload;
    if (state.name === 'waiting') refuseOrPause(upload);
    if ('aborter' in state) void transfer(upload, requests(), state.aborter.signal);
    if (state.name === 'offline' && state.error) failIfConnected(upload, state, state.error);
    if (state.name === 'limited') retryAt(state.until);
    if (state.name === 'cancelled' && id.value !== undefined) discard(id.value);
    if (state.name === 'cancelled' || state.name === 'done') id.value = undefined;
  }

  function refuseOrPause(upload: Upload): void {
    const error = refusalOf(content(), upload.file, list.value.slice(0, list.value.indexOf(upload)));
    if (error) upload.send({ type: 'fail', error });
    else if (!isConnected()) upload.send({ type: 'disconnect' });
  }

  /** While the live channel is connected, waiting for the connection would not help. */
  function failIfConnected({ state, send }: Upload, offline: UploadState, error: PoproomError): void {
    setTimeout(() => {
      if (isConnected() && state.peek() === offline) send({ type: 'fail', error });
    }, noticeMs);
  }

  function removeFinished(): void {
    const isFinished = ({ state: { value } }: Upload) =>
      value.name === 'cancelled' || (value.name === 'done' && listedUrls.has(value.fileUrl));
    list.value = list.value.filter((upload) => !isFinished(upload));
  }

  /** Files without a request wait in the list, and are sent when there are requests again. */
  function limitWaiting(): void {
    const until = limitedUntil.value ?? 0;
    if (until <= Date.now()) return;
    for (const { state, send, batch } of list.value)
      if (state.value.name === 'waiting' && !batch.hasTicket) send({ type: 'limit', until });
  }

  function retryAt(until: number): void {
    const retryLimited = ({ state, send }: Upload) => state.value.name === 'limited' && send({ type: 'retry' });
    clearTimeout(limitTimer);
    limitTimer = setTimeout(() => list.value.forEach(retryLimited), until - Date.now());
  }

  function startNext(): void {
    if (isConnected()) limitWaiting();
    const isSending = ({ state }: Upload) => 'aborter' in state.value;
    if (!isConnected() || list.value.filter(isSending).length >= maxConcurrent) return;
    const next = list.value.find(({ state }) => state.value.name === 'waiting');
    const aborter = new AbortController();
    next?.send(next.id.value ? { type: 'resume', aborter } : { type: 'start', aborter, at: performance.now() });
  }

  function sendAll(event: UploadEvent): void {
    for (const upload of list.value) upload.send(event);
  }

  return {
    list,
    areUnfinished: computed(() => list.value.some(({ state }) => isUnfinished(state.value))),
    addsOnce,

    add(files) {
      const incoming = [...files];
      const batch = createBatch(requests, incoming.length);
      const added = incoming.map((file) => createUpload(file, batch));
      if (added.length > 0) addsOnce.value = false;
      list.value = [...list.value, ...added];
      for (const upload of added) refuseOrPause(upload);
      startNext();
    },

    onFilesListed: removeFinished,
    onDisconnected: () => sendAll({ type: 'disconnect' }),
    onConnected: () => sendAll({ type: 'reconnect' }),

    cancelAll() {
      const all = list.value;
      // Empty the list first, so that cancelling one upload does not start the next.
      list.value = [];
      for (const upload of all) upload.send({ type: 'cancel' });
    },
  };
}

/** The files of one selection count as one request. */
function createBatch(requests: () => Promise<RoomBase>, count: number): UploadBatch {
  let next: ReturnType<typeof announceUploads> | undefined;
  const batch = {
    hasTicket: false,
    async nextTicket() {
      const room = await requests();
      next ??= announceUploads(room, count);
      const ticket = await next();
      batch.hasTicket = ticket !== undefined;
      return ticket;
    },
  };
  return batch;
}

/** Browsers give all pasted images the same name. */
function withScreenshotName(file: File): File {
  if (!/^image\.(png|jpe?g)$/.test(file.name)) return file;
  const name = `screenshot-${timeForName()}.${file.type === 'image/jpeg' ? 'jpg' : 'png'}`;
  return new File([file], name, { type: file.type });
}

/** "2026-11-16-093012", in UTC. */
export const timeForName = (): string => new Date().toISOString().slice(0, 19).replace('T', '-').replaceAll(':', '');

async function transfer(upload: Upload, requests: Promise<RoomBase>, signal: AbortSignal): Promise<void> {
  const { file, folder, name, once, id, batch, send } = upload;
  const onProgress = (sent: number) => send({ type: 'progress', sent, at: performance.now() });
  const onUploadId = (uploadId: string) => (id.value = uploadId);
  try {
    const ticket = await batch.nextTicket();
    const options = { name, folder, once, ticket, onProgress, signal, uploadId: id.value, onUploadId };
    const { fileUrl } = await (await requests).upload(file, options);
    send({ type: 'stored', fileUrl });
    void checkRequestLimit();
  } catch (cause) {
    if (signal.aborted) return;
    const error = noteFailure(cause);
    if (error.code === 'FILE_CHANGED') id.value = undefined;
    if (error.code === 'OFFLINE') send({ type: 'disconnect', error });
    else if (error.code === 'RATE_LIMITED' && limitedUntil.value) send({ type: 'limit', until: limitedUntil.value });
    else send({ type: 'fail', error });
  }
}

/** The ids that uploads of this page use. The same file can be picked twice. */
const used = new Set<string>();

/**
 * Stored for this tab only: two tabs must not send parts of the same upload. Setting it to undefined removes it. `hide`
 * makes a name of a file unreadable in an encrypted room. If it cannot, the id is not stored.
 */
function uploadIdFor(
  code: string,
  { file, folder = '', once }: Pick<Upload, 'file' | 'folder' | 'once'>,
  hide: UploadsOptions['hide'],
): UploadId {
  const { name, size, lastModified } = file;
  // An ordinary upload must not continue as that of a one-time file.
  const label = hide(`${once ? 'once/' : ''}${size}/${lastModified}/${folder}/${name}`);
  const key = label && `upload:${label}:${code}`;
  const stored = key && sessionStore.get(key, isString);
  let id = stored && used.has(stored) ? undefined : stored;
  if (id !== undefined) used.add(id);
  return {
    get value() {
      return id;
    },
    set value(next) {
      id = next;
      if (next !== undefined) used.add(next);
      if (key) sessionStore.set(key, next);
    },
  };
}

/** Why a file cannot be added, given the uploads that were added before it. */
function refusalOf(content: RoomContent, file: File, uploads: readonly SizedUpload[]): PoproomError | undefined {
  const { filesPerRoom } = content.limits;
  const maximum = largestFile(content);
  const refuse = (code: 'FILE_TOO_LARGE' | 'ROOM_FULL', details: Record<string, number>) =>
    new PoproomError(code, file.name, { details });
  if (file.size > maximum) return refuse('FILE_TOO_LARGE', { maximum });
  const left = spaceLeft(content, uploads);
  if (left.files < 1) return refuse('ROOM_FULL', { maximumFiles: filesPerRoom });
  return file.size > left.bytes ? refuse('ROOM_FULL', { bytesLeft: left.bytes }) : undefined;
}
