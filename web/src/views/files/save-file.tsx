/** Receives and saves files: on disk where the browser lets a page write there, otherwise as a download from memory. */
import { useEffect, useMemo } from 'preact/hooks';
import { PoproomError } from '../../../../src/client/error.ts';
import { Button, Problem } from '../../components/controls.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { listen } from '../../components/listen.ts';
import { notify } from '../../components/notices.tsx';
import { t } from '../../i18n/all-strings.ts';
import { errorMessage, percent, roughTime, size } from '../../i18n/strings.ts';
import type { RoomModel, SharedFile } from '../../room/room-phase.ts';
import { createStateMachine, type StateMachine, type Transitions } from '../../room/state-machine.ts';
import { noteFailure } from '../../server-connection.ts';
import '../../style/uploads.css';

export type SaveState =
  /** Until the user confirms. */
  | { readonly name: 'asking' }
  /** The browser may ask where to save the file. */
  | { readonly name: 'choosing' }
  | ({ readonly name: 'saving' } & Saving)
  /** The file was not saved. */
  | { readonly name: 'failed'; readonly message: string }
  /**
   * `isConfirmed`: whether the server knows. Otherwise, a one-time file is available to others again when the claim
   * expires. `blobUrl`: to save it again, if the browser has saved it from memory.
   */
  | ({ readonly name: 'saved' } & Saved)
  | { readonly name: 'closed' };

type Saving = { readonly target: FileTarget; readonly aborter: AbortController; readonly bytes: number };

type Saved = { readonly isConfirmed: boolean; readonly blobUrl: string | undefined };

type SaveEvent =
  | { type: 'choose' }
  | { type: 'dismiss' }
  | ({ type: 'start' } & Omit<Saving, 'bytes'>)
  | { type: 'progress'; bytes: number }
  | { type: 'fail'; message: string }
  | ({ type: 'saved' } & Saved)
  | { type: 'close' };

export type SaveMachine = StateMachine<SaveState, SaveEvent>;

const choose = (): SaveState => ({ name: 'choosing' });
const close = (): SaveState => ({ name: 'closed' });
const fail = (_: SaveState, { message }: { message: string }): SaveState => ({ name: 'failed', message });

const saveTransitions: Transitions<SaveState, SaveEvent> = {
  asking: { choose, close },
  choosing: {
    dismiss: () => ({ name: 'asking' }),
    start: (_, { target, aborter }) => ({ name: 'saving', target, aborter, bytes: 0 }),
    fail,
    close,
  },
  saving: {
    progress: (state, { bytes }) => ({ ...state, bytes }),
    saved: (_, { isConfirmed, blobUrl }) => ({ name: 'saved', isConfirmed, blobUrl }),
    fail,
    close,
  },
  failed: { choose, close },
  saved: { close },
  closed: {},
};

interface SaveSteps {
  /** Returns a message if the browser cannot save the file, and undefined if the user cancels. */
  chooseTarget(): Promise<FileTarget | string | undefined>;
  save(target: FileTarget, signal: AbortSignal, counter: ReturnType<typeof countBytes>): Promise<Saved>;
  failureMessage(error: unknown): string;
}

/** The browser may not have read the file yet when it is closed. */
const revokeAfterMs = 60_000;

/** The event `choose` must follow a click, or the browser does not ask where to save the file. */
export function createSaving(steps: SaveSteps): SaveMachine {
  const machine = createStateMachine<SaveState, SaveEvent>(saveTransitions, { name: 'asking' }, onTransition);
  const { state, send } = machine;

  function onTransition(before: SaveState, after: SaveState): void {
    if (before.name === after.name) return;
    if (before.name === 'saving') before.aborter.abort();
    if (before.name === 'saved' && before.blobUrl) setTimeout(URL.revokeObjectURL, revokeAfterMs, before.blobUrl);
    if (after.name === 'choosing') void chooseTarget();
    if (after.name === 'saving') void save(after);
  }

  async function chooseTarget(): Promise<void> {
    const target = await steps.chooseTarget();
    if (typeof target === 'string') return send({ type: 'fail', message: target });
    send(target ? { type: 'start', target, aborter: new AbortController() } : { type: 'dismiss' });
    if (state.peek().name === 'closed') await target?.discard();
  }

  async function save({ target, aborter: { signal } }: Saving): Promise<void> {
    const counter = countBytes((bytes) => send({ type: 'progress', bytes }));
    try {
      send({ type: 'saved', ...(await steps.save(target, signal, counter)) });
    } catch (error) {
      await target.discard();
      if (!signal.aborted) send({ type: 'fail', message: steps.failureMessage(error) });
    }
  }

  return machine;
}

export const shareOf = (total: number, bytes: number): number => (total === 0 ? 1 : Math.min(1, bytes / total));

/** Leaving would end the download, and nobody else could receive a one-time file until its claim expires. */
export function SaveProgress({ name, size, bytes }: { name: string; size: number; bytes: number }) {
  useEffect(() => listen('beforeunload', (event) => event.preventDefault()), []);
  return <progress max={1} value={shareOf(size, bytes)} aria-label={name} />;
}

export interface FileTarget {
  /** Resolves when the whole file is saved, with its blob URL if the browser has saved it from memory. */
  save(body: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<string | undefined>;
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
      return undefined;
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
      return blobUrl;
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

/** Asks before a one-time file is received, and shows its progress. */
export function ReceiveDialog({ room, file, onClose }: { room: RoomModel; file: SharedFile; onClose: () => void }) {
  const { state, send } = useMemo(() => createReceipt(room, file), [room, file]);
  useEffect(() => () => send({ type: 'close' }), [send]);
  const { value } = state;
  const [closeLabel, startLabel] = labels[value.name];
  return (
    <Dialog title={t('receiveFile', { name: file.fileName })} onClose={onClose}>
      <form method="dialog" class="receiving">
        <Step file={file} state={value} />
        <div class="actions">
          {value.name === 'saved' && value.blobUrl && (
            <a class="button" href={value.blobUrl} download={file.fileName}>
              {t('saveAgain')}
            </a>
          )}
          <Button type="submit" label={t(closeLabel)} />
          {startLabel && <Button class="primary" label={t(startLabel)} onClick={() => send({ type: 'choose' })} />}
        </div>
      </form>
    </Dialog>
  );
}

/** Of the button that closes the dialog, and of the one that starts the download. */
const labels = {
  asking: ['cancel', 'receive'],
  choosing: ['cancel', 'receive'],
  saving: ['cancel', undefined],
  failed: ['close', 'tryAgain'],
  saved: ['close', undefined],
  closed: ['close', undefined],
} as const;

function Step({ file: { fileName, fileSize }, state }: { file: SharedFile; state: SaveState }) {
  if (state.name === 'failed') return <Problem>{state.message}</Problem>;
  if (state.name === 'saved') return <p role="status">{t(state.isConfirmed ? 'received' : 'receivedUnconfirmed')}</p>;
  if (state.name !== 'saving') return <p>{t('receiveHint')}</p>;
  const share = percent(shareOf(fileSize, state.bytes));
  return (
    <>
      <p>{t('receiving')}</p>
      <div>
        <SaveProgress name={fileName} size={fileSize} bytes={state.bytes} />
        <small>{t('uploadProgress', { percent: share, size: size(fileSize) })}</small>
      </div>
    </>
  );
}

const claimSeconds = 30 * 60;

const createReceipt = (room: RoomModel, file: SharedFile) =>
  createSaving({
    chooseTarget: () => chooseTarget(file.fileName),
    failureMessage,
    async save(target, signal, counter) {
      let saved: { blobUrl: string | undefined } | undefined;
      const save = async ({ body }: Response) => {
        if (body) saved = { blobUrl: await target.save(body.pipeThrough(counter)) };
      };
      try {
        await (await room.requests()).receive(file, { save, signal });
        return { isConfirmed: true, blobUrl: saved?.blobUrl };
      } catch (error) {
        if (saved) return { isConfirmed: false, blobUrl: saved.blobUrl };
        // After the user has cancelled, the file is back in the room.
        if (signal.aborted) notify(t('fileKept'));
        throw error;
      }
    },
  });

function failureMessage(error: unknown): string {
  // The browser could not write the file.
  if (!(error instanceof PoproomError)) return `${t('saveFailed')} ${t('fileKept')}`;
  const { code, retryAfter = claimSeconds } = noteFailure(error);
  if (code === 'FILE_CLAIMED') return t('fileClaimed', { time: roughTime(retryAfter * 1000) });
  const message = errorMessage(error);
  return code === 'FILE_NOT_FOUND' ? message : `${message} ${t('fileKept')}`;
}
