/** An upload: its progress, its speed, and buttons to retry or cancel it. */
import { useEffect, useState } from 'preact/hooks';
import { Icon } from '../../components/icon.tsx';
import { errorMessage } from '../../i18n/error-message.ts';
import { t } from '../../i18n/index.ts';
import { size } from '../../i18n/quantities.ts';
import type { UploadState } from '../../room/upload-state.ts';
import type { Upload } from '../../room/uploads.ts';
import { Thumbnail } from './thumbnail.tsx';

export function UploadRow({ upload }: { upload: Upload }) {
  const { name, file, send } = upload;
  const state = upload.state.value;
  const sent = state.name === 'sending' ? state.sent : 0;
  const share = file.size === 0 ? 1 : Math.min(1, sent / file.size);
  return (
    <li class="file upload" data-state={state.name}>
      <Thumbnail url={useObjectUrl(file)} type={file.type} />
      <div class="file-info">
        <span dir="auto">{name}</span>
        <small role={state.name === 'failed' ? 'alert' : undefined}>{detail(file, state)}</small>
        {(state.name === 'waiting' || state.name === 'sending') && <progress max={1} value={share} aria-label={name} />}
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

function detail(file: File, state: UploadState): string {
  if (state.name === 'failed') return errorMessage(state.error);
  if (state.name === 'waiting') return `${size(file.size)} · ${t('uploadWaiting')}`;
  if (state.name !== 'sending') return size(file.size);
  const rate = state.speed > 0 ? ` · ${t('perSecond', { size: size(state.speed) })}` : '';
  return `${t('uploadProgress', { sent: size(Math.min(state.sent, file.size)), size: size(file.size) })}${rate}`;
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
