/** The downloads of encrypted files: their progress, their errors, and buttons to retry or cancel them. */
import { useEffect } from 'preact/hooks';
import { Icon } from '../../components/icon.tsx';
import { t } from '../../i18n/all-strings.ts';
import { percent, size } from '../../i18n/quantities.ts';
import { Thumbnail } from '../files/thumbnail.tsx';
import type { DownloadState } from './download-state.ts';
import { closeAll, type Download, downloads } from './downloads.ts';
import { removeOld } from './sealed-target.ts';
import { forgetThumbnails } from './sealed-thumbnail.tsx';
import '../../style/sealed-files.css';
import '../../style/uploads.css';

export function SealedDownloads() {
  useEffect(() => {
    removeOld().catch(() => undefined);
    // The user leaves the room.
    return () => {
      closeAll();
      forgetThumbnails();
    };
  }, []);
  return downloads.value.map((download) => <DownloadRow key={download} download={download} />);
}

function DownloadRow({ download }: { download: Download }) {
  const { source, state, send } = download;
  const { name, type } = source;
  const { value } = state;
  return (
    <li class="file upload" data-state={value.name}>
      <Thumbnail url="" name={name} type={type} />
      <div class="file-info">
        <span dir="auto">{name}</span>
        <small role={value.name === 'failed' ? 'alert' : undefined}>{detail(source.size, value)}</small>
        {value.name === 'saving' && <Progress download={download} bytes={value.bytes} />}
      </div>
      <div class="file-actions">
        {value.name === 'failed' && (
          <button
            type="button"
            class="button round"
            aria-label={`${t('tryAgain')}: ${name}`}
            title={t('tryAgain')}
            onClick={() => send({ type: 'retry' })}
          >
            <Icon name="retry" />
          </button>
        )}
        <button
          type="button"
          class="button round"
          aria-label={t('cancelDownload', { name })}
          title={t(value.name === 'failed' ? 'close' : 'cancel')}
          onClick={() => send({ type: 'close' })}
        >
          <Icon name="close" />
        </button>
      </div>
    </li>
  );
}

function Progress({ download: { source }, bytes }: { download: Download; bytes: number }) {
  useEffect(() => {
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, []);
  return <progress max={1} value={shareOf(source.size, bytes)} aria-label={source.name} />;
}

function detail(total: number, state: DownloadState): string {
  if (state.name === 'failed') return state.message;
  if (state.name !== 'saving') return size(total);
  const share = percent(shareOf(total, state.bytes));
  return `${t('decrypting')} ${t('uploadProgress', { percent: share, size: size(total) })}`;
}

const shareOf = (total: number, bytes: number): number => (total === 0 ? 1 : Math.min(1, bytes / total));
