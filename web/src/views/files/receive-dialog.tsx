/** Asks before a one-time file is received, and shows its progress. */
import { useEffect, useMemo } from 'preact/hooks';
import { PoproomError } from '../../../../src/client/error.ts';
import { Button, Problem } from '../../components/controls.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { notify } from '../../components/notices.tsx';
import { t } from '../../i18n/all-strings.ts';
import { errorMessage } from '../../i18n/error-message.ts';
import { percent, roughTime, size } from '../../i18n/quantities.ts';
import { noteFailure } from '../../room/request-limit.ts';
import type { RoomModel, SharedFile } from '../../room/room-phase.ts';
import { chooseTarget, createSaving, SaveProgress, type SaveState, shareOf } from './save-file.tsx';
import '../../style/uploads.css';

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
