/** Asks before a one-time file is received, and shows its progress. */
import { useEffect, useMemo } from 'preact/hooks';
import { Dialog } from '../../components/dialog.tsx';
import { notify } from '../../components/notices.tsx';
import { t } from '../../i18n/all-strings.ts';
import { percent, roughTime, size } from '../../i18n/quantities.ts';
import type { RoomModel, SharedFile } from '../../room/room-phase.ts';
import '../../style/uploads.css';
import { PoproomError } from '../../../../src/client/error.ts';
import { errorMessage } from '../../i18n/error-message.ts';
import { noteFailure } from '../../room/request-limit.ts';
import { createStateMachine, type StateMachine, type Transitions } from '../../room/state-machine.ts';
import { chooseTarget, countBytes, type FileTarget, type SavedFile } from './save-file.ts';

interface Props {
  room: RoomModel;
  file: SharedFile;
  onClose: () => void;
}

export function ReceiveDialog({ room, file, onClose }: Props) {
  const receipt = useMemo(() => createReceipt(room, file, () => notify(t('fileKept'))), [room, file]);
  useEffect(() => () => receipt.send({ type: 'close' }), [receipt]);
  return (
    <Dialog title={t('receiveFile', { name: file.fileName })} onClose={onClose}>
      <form method="dialog" class="receiving">
        <Step file={file} receipt={receipt} state={receipt.state.value} />
      </form>
    </Dialog>
  );
}

interface StepProps {
  file: SharedFile;
  receipt: Receipt;
  state: ReceiveState;
}

function Step({ file, receipt, state }: StepProps) {
  switch (state.name) {
    case 'asking':
    case 'choosing':
      return (
        <>
          <p>{t('receiveHint')}</p>
          <div class="actions">
            <CloseButton label={t('cancel')} />
            <StartButton label={t('receive')} receipt={receipt} />
          </div>
        </>
      );
    case 'receiving':
      return <Progress file={file} bytes={state.bytes} />;
    case 'failed':
      return (
        <>
          <p class="problem" role="alert">
            {state.message}
          </p>
          <div class="actions">
            <CloseButton label={t('close')} />
            <StartButton label={t('tryAgain')} receipt={receipt} />
          </div>
        </>
      );
    case 'received':
      return (
        <>
          <p role="status">{t(state.isConfirmed ? 'received' : 'receivedUnconfirmed')}</p>
          <div class="actions">
            {state.blobUrl && (
              <a class="button" href={state.blobUrl} download={file.fileName}>
                {t('saveAgain')}
              </a>
            )}
            <CloseButton label={t('close')} />
          </div>
        </>
      );
    case 'closed':
      return null;
  }
}

function Progress({ file: { fileName, fileSize }, bytes }: { file: SharedFile; bytes: number }) {
  const share = fileSize === 0 ? 1 : Math.min(1, bytes / fileSize);
  useEffect(() => {
    // Until the claim expires, nobody else could receive the file.
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, []);
  return (
    <>
      <p>{t('receiving')}</p>
      <div>
        <progress max={1} value={share} aria-label={fileName} />
        <small>{t('uploadProgress', { percent: percent(share), size: size(fileSize) })}</small>
      </div>
      <div class="actions">
        <CloseButton label={t('cancel')} />
      </div>
    </>
  );
}

const CloseButton = ({ label }: { label: string }) => (
  <button type="submit" class="button">
    {label}
  </button>
);

const StartButton = ({ label, receipt }: { label: string; receipt: Receipt }) => (
  <button type="button" class="button primary" onClick={() => receipt.send({ type: 'choose' })}>
    {label}
  </button>
);

type Receipt = StateMachine<ReceiveState, ReceiveEvent>;

const claimSeconds = 30 * 60;
/** The browser may not have read the file yet when the dialog is closed. */
const revokeAfterMs = 60_000;

/**
 * The event `choose` must follow a click, or the browser does not ask where to save the file. `onReturned` is called
 * when the file is back in the room because the user has cancelled.
 */
function createReceipt(room: RoomModel, file: SharedFile, onReturned: () => void): Receipt {
  const { state, send } = createStateMachine<ReceiveState, ReceiveEvent>(
    receiveTransitions,
    { name: 'asking' },
    onTransition,
  );

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

  async function transfer({ target, aborter: { signal } }: ReceivingState): Promise<void> {
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
      if (signal.aborted) onReturned();
      else send({ type: 'fail', message: failureMessage(error) });
    }
  }

  return { state, send };
}

function onClosed(before: ReceiveState): void {
  if (before.name === 'receiving') before.aborter.abort();
  if (before.name !== 'received' || before.blobUrl === undefined) return;
  const { blobUrl } = before;
  setTimeout(() => URL.revokeObjectURL(blobUrl), revokeAfterMs);
}

function failureMessage(error: unknown): string {
  // The browser could not write the file.
  if (!(error instanceof PoproomError)) return `${t('saveFailed')} ${t('fileKept')}`;
  const { code, retryAfter = claimSeconds } = noteFailure(error);
  if (code === 'FILE_CLAIMED') return t('fileClaimed', { time: roughTime(retryAfter * 1000) });
  const message = errorMessage(error);
  return code === 'FILE_NOT_FOUND' ? message : `${message} ${t('fileKept')}`;
}

type ReceiveState =
  /** Until the user confirms. */
  | { readonly name: 'asking' }
  /** The browser asks where to save the file. */
  | { readonly name: 'choosing' }
  | ReceivingState
  /** The file was not saved. */
  | { readonly name: 'failed'; readonly message: string }
  | ReceivedState
  | { readonly name: 'closed' };

interface ReceivingState {
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

type ReceiveEvent =
  | { type: 'choose' }
  | { type: 'dismiss' }
  | { type: 'start'; target: FileTarget; aborter: AbortController }
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
