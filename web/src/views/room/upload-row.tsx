/** A file on its way: how far it is, how fast, and how to stop it. */
import { useEffect, useState } from 'preact/hooks';
import { Icon } from '../../components/icon.tsx';
import { t } from '../../i18n/index.ts';
import { problemText } from '../../i18n/problem.ts';
import { size } from '../../i18n/quantities.ts';
import type { Upload, Uploads } from '../../room/uploads.ts';
import { Thumbnail } from './thumbnail.tsx';

export function UploadRow({ upload, uploads }: { upload: Upload; uploads: Uploads }) {
  const { name, file, state, sent } = upload;
  const at = state.value.at;
  const share = file.size === 0 ? 1 : Math.min(1, sent.value / file.size);
  return (
    <li class="file upload" data-state={at}>
      <Thumbnail url={useObjectUrl(file)} type={file.type} />
      <div class="file-words">
        <span dir="auto">{name}</span>
        <small role={at === 'failed' || at === 'refused' ? 'alert' : undefined}>{detail(upload)}</small>
        {(at === 'sending' || at === 'waiting') && <progress max={1} value={share} aria-label={name} />}
      </div>
      <div class="file-actions">
        {at === 'failed' && (
          <button
            type="button"
            class="button round"
            aria-label={t('retry', { name })}
            title={t('tryAgain')}
            onClick={() => uploads.retry(upload)}
          >
            <Icon name="retry" />
          </button>
        )}
        <button
          type="button"
          class="button round"
          aria-label={t('cancel', { name })}
          title={t('cancelShort')}
          onClick={() => uploads.cancel(upload)}
        >
          <Icon name="close" />
        </button>
      </div>
    </li>
  );
}

function detail({ state, file, sent, speed }: Upload): string {
  const now = state.value;
  if (now.at === 'failed' || now.at === 'refused') return problemText(now.error);
  if (now.at === 'waiting') return `${size(file.size)} · ${t('uploadWaiting')}`;
  if (now.at === 'stored') return size(file.size);
  const rate = speed.value > 0 ? ` · ${t('perSecond', { size: size(speed.value) })}` : '';
  return `${t('sentOf', { sent: size(Math.min(sent.value, file.size)), size: size(file.size) })}${rate}`;
}

/** An address for a file that only this page has. */
function useObjectUrl(file: File): string {
  const [url, setUrl] = useState('');
  useEffect(() => {
    const made = URL.createObjectURL(file);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [file]);
  return url;
}
