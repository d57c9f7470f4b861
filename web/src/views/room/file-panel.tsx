/** The files of the room and the current uploads. */
import { useSignal } from '@preact/signals';
import { useMemo, useRef } from 'preact/hooks';
import { Icon } from '../../components/icon.tsx';
import { deviceId } from '../../device/identity.ts';
import { t } from '../../i18n/index.ts';
import { size } from '../../i18n/quantities.ts';
import type { RoomModel } from '../../room/room.ts';
import type { SharedFile } from '../../room/room-phase.ts';
import { spaceLeft } from '../../room/space.ts';
import type { IncomingFile } from '../../room/uploads.ts';
import { addFiles } from './add-files.ts';
import { useArrivals } from './arrivals.ts';
import { FailedUploads } from './failed-uploads.tsx';
import { FileRow } from './file-row.tsx';
import { pickedFiles } from './incoming-files.ts';
import { Viewer } from './lazy-viewer.ts';
import { createRemoval } from './remove-with-undo.ts';
import { UploadRow } from './upload-row.tsx';

export function FilePanel({ room }: { room: RoomModel }) {
  const { hidden, remove } = useMemo(() => createRemoval(room), [room]);
  const { recent, adderOf } = useArrivals(room.content.value);
  const files = newestFirst(room.content.value.files).filter(({ fileId }) => !hidden.value.has(fileId));
  const uploads = room.uploads.list.value;
  const viewedId = useSignal<string | undefined>(undefined);
  return (
    <section class="file-panel">
      <header>
        <h2>{t('files')}</h2>
        <FilePicker onFiles={(files) => addFiles(room, files)} />
      </header>
      <SpaceLeft room={room} />
      <FailedUploads uploads={uploads} />
      {files.length + uploads.length === 0 && <p class="empty">{t('noFiles')}</p>}
      <ul class="files">
        {uploads.map((upload) => (
          <UploadRow key={upload} upload={upload} />
        ))}
        {files.map((file) => (
          <FileRow
            key={file.fileId}
            room={room}
            file={file}
            addedBy={file.deviceId === deviceId ? t('you') : adderOf(file)}
            isNew={recent.has(file.fileId)}
            onView={() => {
              viewedId.value = file.fileId;
            }}
            onRemove={(byKeyboard) => void remove(file, byKeyboard)}
          />
        ))}
      </ul>
      {viewedId.value && (
        <Viewer
          room={room}
          files={files}
          firstId={viewedId.value}
          onClose={() => {
            viewedId.value = undefined;
          }}
        />
      )}
    </section>
  );
}

/** Picks files or, where the system can, a folder. */
function FilePicker({ onFiles }: { onFiles: (files: IncomingFile[]) => void }) {
  const input = useRef<HTMLInputElement>(null);
  const open = (webkitdirectory: boolean) => {
    if (input.current) Object.assign(input.current, { webkitdirectory }).click();
  };
  return (
    <div class="file-picker">
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

/** A file that was restored returns to its place. */
function newestFirst(files: readonly SharedFile[]): SharedFile[] {
  return [...files].reverse().sort((one, other) => Date.parse(other.uploadedAt) - Date.parse(one.uploadedAt));
}

function SpaceLeft({ room }: { room: RoomModel }) {
  const { limits } = room.content.value;
  const left = spaceLeft(room.content.value, room.uploads.list.value);
  return (
    <p class="aside space-left">
      {left.files < 1
        ? t('errorTooManyFiles', { n: limits.filesPerRoom })
        : t('spaceLeft', { size: size(limits.fileBytes), left: size(left.bytes) })}
    </p>
  );
}
