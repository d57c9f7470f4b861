/** Asks before a one-time file is received, and shows its progress. */
import { useEffect, useMemo } from 'preact/hooks';
import { Dialog } from '../../components/dialog.tsx';
import { notify } from '../../components/notices.tsx';
import { t } from '../../i18n/all-strings.ts';
import { percent, size } from '../../i18n/quantities.ts';
import type { RoomModel } from '../../room/room.ts';
import type { SharedFile } from '../../room/room-phase.ts';
import { createReceipt, type Receipt } from './receive-file.ts';
import type { ReceiveState } from './receive-state.ts';
import '../../style/uploads.css';

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
