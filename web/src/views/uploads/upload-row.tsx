/** An upload: its progress, its speed, its time left, and buttons to retry or cancel it. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { useNow } from '../../components/countdown.tsx';
import { Icon } from '../../components/icon.tsx';
import { t } from '../../i18n/all-strings.ts';
import { errorMessage } from '../../i18n/error-message.ts';
import { percent, roughTime, size } from '../../i18n/quantities.ts';
import { isUnfinished, type SendingUpload, speedOf, type UploadState } from '../../room/upload-state.ts';
import type { Upload } from '../../room/uploads.ts';
import { Thumbnail } from '../files/thumbnail.tsx';
import '../../style/uploads.css';

export function UploadRow({ upload }: { upload: Upload }) {
  const { name, file, send } = upload;
  const state = upload.state.value;
  return (
    <li class="file upload" data-state={state.name}>
      <Thumbnail url={useObjectUrl(file)} name={name} type={file.type} />
      <div class="file-info">
        <span dir="auto">{name}</span>
        <small role={state.name === 'failed' ? 'alert' : undefined}>
          {state.name === 'sending' ? <Rate file={file} state={state} /> : detail(file, state)}
        </small>
        {isUnfinished(state) && <Progress upload={upload} />}
      </div>
      <div class="file-actions">
        {state.name === 'failed' && state.canRetry && (
          <button
            type="button"
            class="button round"
            aria-label={t('retryUpload', { name })}
            title={t('tryAgain')}
            onClick={() => send({ type: 'retry' })}
          >
            <Icon name="retry" />
          </button>
        )}
        <button
          type="button"
          class="button round"
          aria-label={t('cancelUpload', { name })}
          title={t('cancel')}
          onClick={() => send({ type: 'cancel' })}
        >
          <Icon name="close" />
        </button>
      </div>
    </li>
  );
}

/** Keeps its length while the connection is lost. */
function Progress({ upload: { name, file, state } }: { upload: Upload }) {
  const last = useRef(0);
  if (state.value.name === 'sending') last.current = shareOf(file, state.value.sent);
  return <progress max={1} value={last.current} aria-label={name} />;
}

/** "41% of 2.9 MB · 150 kB/s · 12 seconds left". */
function Rate({ file, state }: { file: File; state: SendingUpload }) {
  // The speed decreases also without an event, when nothing is sent any more.
  useNow();
  const speed = speedOf(state, performance.now());
  const progress = t('uploadProgress', { percent: percent(shareOf(file, state.sent)), size: size(file.size) });
  if (!speed) return progress;
  const time = roughTime(((file.size - state.sent) / speed) * 1000);
  const parts = [progress, t('perSecond', { size: size(speed) }), t('uploadTimeLeft', { time })];
  // On a phone, lines break between the parts.
  return parts.map((part) => part.replaceAll(' ', '\u00a0')).join(' · ');
}

const shareOf = (file: File, sent: number): number => (file.size === 0 ? 1 : Math.min(1, sent / file.size));

const stateKeys = { waiting: 'uploadWaiting', offline: 'uploadOffline', resuming: 'uploadResuming' } as const;

function detail(file: File, state: UploadState): string {
  switch (state.name) {
    case 'failed':
      return errorMessage(state.error);
    case 'waiting':
    case 'offline':
    case 'resuming':
      return `${size(file.size)} · ${t(stateKeys[state.name])}`;
    default:
      return size(file.size);
  }
}

/** A blob URL for a local file. */
function useObjectUrl(file: File): string {
  const [url, setUrl] = useState('');
  useEffect(() => {
    const objectUrl = URL.createObjectURL(file);
    setUrl(objectUrl);
    return () => URL.revokeObjectURL(objectUrl);
  }, [file]);
  return url;
}
