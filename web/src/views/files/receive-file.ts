/** Receives a one-time file: asks where to save it, claims it, saves it, and confirms the receipt. */
import { PoproomError } from '../../../../src/client/error.ts';
import { t } from '../../i18n/all-strings.ts';
import { errorMessage } from '../../i18n/error-message.ts';
import { roughTime } from '../../i18n/quantities.ts';
import { noteFailure } from '../../room/request-limit.ts';
import type { RoomModel } from '../../room/room.ts';
import type { SharedFile } from '../../room/room-phase.ts';
import { createStateMachine, type StateMachine } from '../../room/state-machine.ts';
import { type ReceiveEvent, type ReceiveState, type ReceivingState, receiveTransitions } from './receive-state.ts';
import { chooseTarget, countBytes, type SavedFile } from './save-file.ts';

export type Receipt = StateMachine<ReceiveState, ReceiveEvent>;

const claimSeconds = 30 * 60;
/** The browser may not have read the file yet when the dialog is closed. */
const revokeAfterMs = 60_000;

/**
 * The event `choose` must follow a click, or the browser does not ask where to save the file. `onReturned` is called
 * when the file is back in the room because the user has cancelled.
 */
export function createReceipt(room: RoomModel, file: SharedFile, onReturned: () => void): Receipt {
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
      await room.requests().receive(file, { save, signal });
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
