/** A file of the room: open, download, copy its link, remove. */
import { useSignal } from '@preact/signals';
import { CopyButton } from '../../components/copy-button.tsx';
import { Icon } from '../../components/icon.tsx';
import { t } from '../../i18n/index.ts';
import { size } from '../../i18n/quantities.ts';
import type { SharedFile } from '../../room/room-phase.ts';
import { kindOf, Thumbnail } from './thumbnail.tsx';

export function FileRow({ file, onRemove }: { file: SharedFile; onRemove: () => Promise<void> }) {
  const { fileName, fileUrl, fileSize, contentType } = file;
  const isRemoving = useSignal(false);
  return (
    <li class="file" aria-busy={isRemoving.value}>
      <Thumbnail url={fileUrl} type={contentType} />
      <div class="file-info">
        <a href={fileUrl} target="_blank" rel="noopener noreferrer" dir="auto" title={fileName}>
          {fileName}
        </a>
        <small>{[size(fileSize), kindOf(fileName, contentType)].filter(Boolean).join(' · ')}</small>
      </div>
      <div class="file-actions">
        <a
          class="button round"
          href={`${fileUrl}?download`}
          download={fileName}
          aria-label={t('downloadFile', { name: fileName })}
          title={t('download')}
        >
          <Icon name="down" />
        </a>
        <CopyButton text={fileUrl} label={t('copyFileLink', { name: fileName })} icon="link" compact />
        <button
          type="button"
          class="button round"
          disabled={isRemoving.value}
          aria-label={t('removeFile', { name: fileName })}
          title={t('remove')}
          onClick={() => {
            isRemoving.value = true;
            void onRemove().finally(() => {
              isRemoving.value = false;
            });
          }}
        >
          <Icon name="delete" />
        </button>
      </div>
    </li>
  );
}
