/** The files of the room and the current uploads. */
import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { Icon } from '../../components/icon.tsx';
import { notify } from '../../components/notices.tsx';
import { deviceId } from '../../device/identity.ts';
import { t } from '../../i18n/index.ts';
import { size } from '../../i18n/quantities.ts';
import type { RoomModel } from '../../room/room.ts';
import type { SharedFile } from '../../room/room-phase.ts';
import { largestFile, spaceLeft } from '../../room/space.ts';
import type { IncomingFile } from '../../room/uploads.ts';
import { SealedDownloads } from '../files/lazy-sealed-files.ts';
import { addFiles } from './add-files.ts';
import { useArrivals } from './arrivals.ts';
import { FailedUploads, FileRow, FileTools, OneTimeRow, ReceiveDialog, UploadRow } from './file-parts.tsx';
import { pickedFiles } from './incoming-files.ts';
import { Viewer } from './lazy-viewer.ts';
import { useRemoval } from './removal.ts';

export function FilePanel({ room }: { room: RoomModel }) {
  const { hidden, remove } = useRemoval(room);
  const { recent, adderOf } = useArrivals(room.content.value);
  const files = newestFirst(room.content.value.files).filter(({ fileId }) => !hidden.value.has(fileId));
  const { addsOnce } = room.uploads;
  const uploads = room.uploads.list.value;
  const viewedId = useSignal<string | undefined>(undefined);
  const failed = uploads.filter(({ state }) => state.value.name === 'failed');
  const receiving = useSignal<SharedFile | undefined>(undefined);
  const { received } = room.content.value;
  useEffect(() => {
    // On the device that received it, the dialog says so.
    if (received && received.fileId !== receiving.value?.fileId) notify(t('fileReceived', { name: received.fileName }));
  }, [received]);
  const selected = useSignal<ReadonlySet<string> | undefined>(undefined);
  return (
    <section class="file-panel">
      <header>
        <h2>{t('files')}</h2>
        <FilePicker addsOnce={addsOnce} onFiles={(files) => addFiles(room, files)} />
      </header>
      {addsOnce.value && (
        <p class="once-hint" role="status">
          <Icon name="once" />
          {t('nextFilesOnce')}
        </p>
      )}
      <div class="file-summary">
        <SpaceLeft room={room} />
        {files.length > 1 && <FileTools room={room} files={files} selected={selected} onRemove={remove} />}
      </div>
      {failed.length > 1 && <FailedUploads failed={failed} />}
      {files.length + uploads.length === 0 && <p class="empty">{t('noFiles')}</p>}
      <ul class="files">
        {room.content.value.isEncrypted && <SealedDownloads />}
        {uploads.map((upload) => (
          <UploadRow key={upload} upload={upload} />
        ))}
        {!selected.value &&
          files.map((file) => {
            const Row = file.once ? OneTimeRow : FileRow;
            return (
              <Row
                key={file.fileId}
                room={room}
                file={file}
                addedBy={file.deviceId === deviceId ? t('you') : adderOf(file)}
                isNew={recent.has(file.fileId)}
                onView={() => {
                  viewedId.value = file.fileId;
                }}
                onReceive={() => {
                  receiving.value = file;
                }}
                onRemove={(byKeyboard) => void remove(file, byKeyboard)}
              />
            );
          })}
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
      {receiving.value && (
        <ReceiveDialog
          room={room}
          file={receiving.value}
          onClose={() => {
            receiving.value = undefined;
          }}
        />
      )}
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
        : t('spaceLeft', { size: size(largestFile(room.content.value)), left: size(left.bytes) })}
    </p>
  );
}
