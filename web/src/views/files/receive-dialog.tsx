/** Asks before a one-time file is received, and shows its progress. */
import { useEffect, useMemo } from 'preact/hooks';
import { Button, Problem } from '../../components/controls.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { listen } from '../../components/listen.ts';
import { notify } from '../../components/notices.tsx';
import { t } from '../../i18n/all-strings.ts';
import { percent, roughTime, size } from '../../i18n/quantities.ts';
import type { RoomModel, SharedFile } from '../../room/room-phase.ts';
import '../../style/uploads.css';
import { PoproomError } from '../../../../src/client/error.ts';
import { errorMessage } from '../../i18n/error-message.ts';
import { noteFailure } from '../../room/request-limit.ts';
import { createStateMachine, type Transitions } from '../../room/state-machine.ts';
import { chooseTarget, countBytes, type FileTarget, type SavedFile } from './save-file.ts';

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
          {value.name === 'received' && value.blobUrl && (
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
  receiving: ['cancel', undefined],
  failed: ['close', 'tryAgain'],
  received: ['close', undefined],
  closed: ['close', undefined],
} as const;

function Step({ file, state }: { file: SharedFile; state: ReceiveState }) {
  switch (state.name) {
    case 'receiving':
      return <Progress file={file} bytes={state.bytes} />;
    case 'failed':
      return <Problem>{state.message}</Problem>;
    case 'received':
      return <p role="status">{t(state.isConfirmed ? 'received' : 'receivedUnconfirmed')}</p>;
    default:
      return <p>{t('receiveHint')}</p>;
  }
}

function Progress({ file: { fileName, fileSize }, bytes }: { file: SharedFile; bytes: number }) {
  const share = fileSize === 0 ? 1 : Math.min(1, bytes / fileSize);
  // Until the claim expires, nobody else could receive the file.
  useEffect(() => listen('beforeunload', (event) => event.preventDefault()), []);
  return (
    <>
      <p>{t('receiving')}</p>
      <div>
        <progress max={1} value={share} aria-label={fileName} />
        <small>{t('uploadProgress', { percent: percent(share), size: size(fileSize) })}</small>
      </div>
    </>
  );
}

const claimSeconds = 30 * 60;
/** The browser may not have read the file yet when the dialog is closed. */
const revokeAfterMs = 60_000;

/** The event `choose` must follow a click, or the browser does not ask where to save the file. */
function createReceipt(room: RoomModel, file: SharedFile) {
  const machine = createStateMachine<ReceiveState, ReceiveEvent>(receiveTransitions, { name: 'asking' }, onTransition);
  const { state, send } = machine;

  function onTransition(before: ReceiveState, after: ReceiveState): void {
    if (before.name === after.name) return;
    if (after.name === 'choosing') void choose();
    if (after.name === 'receiving') void transfer(after);
    if (after.name === 'closed') onClosed(before);
  }

  async function choose(): Promise<void> {
    const target = await chooseTarget(file.fileName);
    send(target ? { type: 'start', target, aborter: new AbortController() } : { type: 'dismiss' });
    if (state.peek().name === 'closed') await target?.discard();
  }

  async function transfer({ target, aborter: { signal } }: Receiving): Promise<void> {
    let saved: SavedFile | undefined;
    const onBytes = (bytes: number) => send({ type: 'progress', bytes });
    const save = async ({ body }: Response) => {
      if (body) saved = await target.save(body.pipeThrough(countBytes(onBytes)));
    };
    try {
      await (await room.requests()).receive(file, { save, signal });
      send({ type: 'saved', isConfirmed: true, blobUrl: saved?.blobUrl });
    } catch (error) {
      if (saved) return send({ type: 'saved', isConfirmed: false, blobUrl: saved.blobUrl });
      await target.discard();
      // After the user has cancelled, the file is back in the room.
      if (signal.aborted) notify(t('fileKept'));
      else send({ type: 'fail', message: failureMessage(error) });
    }
  }

  return machine;
}

function onClosed(before: ReceiveState): void {
  if (before.name === 'receiving') before.aborter.abort();
  const blobUrl = before.name === 'received' && before.blobUrl;
  if (blobUrl) setTimeout(() => URL.revokeObjectURL(blobUrl), revokeAfterMs);
}

function failureMessage(error: unknown): string {
  // The browser could not write the file.
  if (!(error instanceof PoproomError)) return `${t('saveFailed')} ${t('fileKept')}`;
  const { code, retryAfter = claimSeconds } = noteFailure(error);
  if (code === 'FILE_CLAIMED') return t('fileClaimed', { time: roughTime(retryAfter * 1000) });
  const message = errorMessage(error);
  return code === 'FILE_NOT_FOUND' ? message : `${message} ${t('fileKept')}`;
}

/** `aborter` stops the download, and gives the file back. */
type Receiving = { readonly target: FileTarget; readonly aborter: AbortController; readonly bytes: number };

type ReceiveState =
  /** Until the user confirms. */
  | { readonly name: 'asking' }
  /** The browser asks where to save the file. */
  | { readonly name: 'choosing' }
  | ({ readonly name: 'receiving' } & Receiving)
  /** The file was not saved. */
  | { readonly name: 'failed'; readonly message: string }
  /**
   * `isConfirmed`: whether the server knows. Otherwise, the file is available to others again when the claim expires.
   * `blobUrl`: of the file, if the browser saves it from memory.
   */
  | { readonly name: 'received'; readonly isConfirmed: boolean; readonly blobUrl: string | undefined }
  | { readonly name: 'closed' };

type ReceiveEvent =
  | { type: 'choose' }
  | { type: 'dismiss' }
  | ({ type: 'start' } & Omit<Receiving, 'bytes'>)
  | { type: 'progress'; bytes: number }
  | { type: 'fail'; message: string }
  | { type: 'saved'; isConfirmed: boolean; blobUrl: string | undefined }
  | { type: 'close' };

/** The states of receiving a one-time file, and how events change them. The effects are in `createReceipt`. */
const choose = (): ReceiveState => ({ name: 'choosing' });
const close = (): ReceiveState => ({ name: 'closed' });

const receiveTransitions: Transitions<ReceiveState, ReceiveEvent> = {
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
