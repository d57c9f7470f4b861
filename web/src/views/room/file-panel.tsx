/** The file panel: its head with the file picker, and the list, which is loaded with the first file. */
import type { Signal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { Icon } from '../../components/icon.tsx';
import { lazy } from '../../components/lazy.tsx';
import { t } from '../../i18n/strings.ts';
import type { RoomModel } from '../../room/room-phase.ts';
import type { IncomingFile } from '../../room/upload-state.ts';
import { addFiles, pickedFiles } from './add-files.tsx';
import { PendingFiles } from './file-placeholder.tsx';

export const loadFileList = () => import('../files/file-list.tsx');

const FileList = lazy(loadFileList, 'FileList', PendingFiles);

export function FilePanel({ room }: { room: RoomModel }) {
  const { addsOnce, list } = room.uploads;
  const { files } = room.content.value;
  const first = useRef(files).current;
  // Stays true when the last file is removed, which Undo restores.
  const hasList = useRef(false);
  if (files.length + list.value.length > 0) hasList.current = true;
  return (
    <section class="file-panel">
      <header>
        <h2>{t('files')}</h2>
        <FilePicker addsOnce={addsOnce} onFiles={(files) => void addFiles(room, files)} />
      </header>
      {addsOnce.value && (
        <p class="once-hint" role="status">
          <Icon name="once" />
          {t('nextFilesOnce')}
        </p>
      )}
      {hasList.current ? <FileList room={room} first={first} /> : <PendingFiles room={room} first={first} />}
    </section>
  );
}

interface PickerProps {
  addsOnce: Signal<boolean>;
  onFiles: (files: IncomingFile[]) => void;
}

/** Picks files or, where the system can, a folder. */
function FilePicker({ addsOnce, onFiles }: PickerProps) {
  const input = useRef<HTMLInputElement>(null);
  const open = (webkitdirectory: boolean) => {
    if (input.current) Object.assign(input.current, { webkitdirectory }).click();
  };
  return (
    <div class="file-picker">
      <button
        type="button"
        class="button round once"
        aria-pressed={addsOnce.value}
        aria-label={t('deleteAfterDownload')}
        title={t('deleteAfterDownload')}
        onClick={() => {
          addsOnce.value = !addsOnce.value;
        }}
      >
        <Icon name="once" />
        <span>{t('deleteAfterDownload')}</span>
      </button>
      <button type="button" class="button folder" onClick={() => open(true)}>
        <Icon name="folder" />
        {t('addFolder')}
      </button>
      <button type="button" class="button" onClick={() => open(false)}>
        <Icon name="plus" />
        {t('addFiles')}
      </button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        onChange={({ currentTarget }) => {
          onFiles(pickedFiles(currentTarget.files));
          currentTarget.value = '';
        }}
      />
    </div>
  );
}
