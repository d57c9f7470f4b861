/** The files of the room and the current uploads. */
import { useRef } from 'preact/hooks';
import { Icon } from '../../components/icon.tsx';
import { t } from '../../i18n/index.ts';
import { size } from '../../i18n/quantities.ts';
import { limits } from '../../limits.ts';
import type { RoomModel } from '../../room/room.ts';
import { FileRow } from './file-row.tsx';
import { UploadRow } from './upload-row.tsx';

export function FilePanel({ room }: { room: RoomModel }) {
  const picker = useRef<HTMLInputElement>(null);
  const { files } = room.content.value;
  const uploads = room.uploads.list.value;
  return (
    <section class="file-panel">
      <header>
        <h2>{t('files')}</h2>
        <button type="button" class="button" onClick={() => picker.current?.click()}>
          <Icon name="plus" />
          {t('addFiles')}
        </button>
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          onChange={({ currentTarget }) => {
            room.uploads.add([...(currentTarget.files ?? [])]);
            currentTarget.value = '';
          }}
        />
      </header>
      {files.length + uploads.length === 0 && <p class="empty">{t('noFiles', { size: size(limits.fileMax) })}</p>}
      <ul class="files">
        {files.map((file) => (
          <FileRow key={file.fileId} file={file} onRemove={() => room.removeFile(file)} />
        ))}
        {uploads.map((upload) => (
          <UploadRow key={upload} upload={upload} />
        ))}
      </ul>
    </section>
  );
}
