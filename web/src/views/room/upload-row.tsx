/** An upload: its progress, its speed, and buttons to retry or cancel it. */
import { useEffect, useState } from 'preact/hooks';
import { Icon } from '../../components/icon.tsx';
import { errorMessage } from '../../i18n/error-message.ts';
import { t } from '../../i18n/index.ts';
import { size } from '../../i18n/quantities.ts';
import type { Upload, Uploads } from '../../room/uploads.ts';
import { Thumbnail } from './thumbnail.tsx';

export function UploadRow({ upload, uploads }: { upload: Upload; uploads: Uploads }) {
  const { name, file, state, sent } = upload;
  const { status } = state.value;
  const share = file.size === 0 ? 1 : Math.min(1, sent.value / file.size);
  return (
    <li class="file upload" data-state={status}>
      <Thumbnail url={useObjectUrl(file)} type={file.type} />
      <div class="file-info">
        <span dir="auto">{name}</span>
        <small role={status === 'failed' || status === 'refused' ? 'alert' : undefined}>{detail(upload)}</small>
        {(status === 'sending' || status === 'waiting') && <progress max={1} value={share} aria-label={name} />}
      </div>
      <div class="file-actions">
        {status === 'failed' && (
          <button
            type="button"
            class="button round"
            aria-label={t('retryUpload', { name })}
            title={t('tryAgain')}
            onClick={() => uploads.retry(upload)}
          >
            <Icon name="retry" />
          </button>
        )}
        <button
          type="button"
          class="button round"
          aria-label={t('cancelUpload', { name })}
          title={t('cancel')}
          onClick={() => uploads.cancel(upload)}
        >
          <Icon name="close" />
        </button>
      </div>
    </li>
  );
}

function detail({ state, file, sent, speed }: Upload): string {
  const current = state.value;
  if (current.status === 'failed' || current.status === 'refused') return errorMessage(current.error);
  if (current.status === 'waiting') return `${size(file.size)} · ${t('uploadWaiting')}`;
  if (current.status === 'stored') return size(file.size);
  const rate = speed.value > 0 ? ` · ${t('perSecond', { size: size(speed.value) })}` : '';
  return `${t('uploadProgress', { sent: size(Math.min(sent.value, file.size)), size: size(file.size) })}${rate}`;
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
