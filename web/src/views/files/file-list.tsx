/** The files of the room and the current uploads, below the head of the file panel. */
import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { lazy } from '../../components/lazy.tsx';
import { notify } from '../../components/notices.tsx';
import { t } from '../../i18n/all-strings.ts';
import type { SharedFile } from '../../room/room-phase.ts';
import { loadUploadParts } from '../room/add-files.ts';
import { type FileListProps, NoFiles, SpaceLeft } from '../room/file-placeholder.tsx';
import { Viewer } from '../room/lazy-viewer.ts';
import { LeaveGuard } from '../room/leave-guard.tsx';
import { useArrivals } from './arrivals.ts';
import { FileRow } from './file-row.tsx';
import { FileTools } from './file-tools.tsx';
import { SealedDownloads } from './lazy-sealed-files.ts';
import { OneTimeRow } from './one-time-row.tsx';
import { ReceiveDialog } from './receive-dialog.tsx';
import { createRemoval } from './remove-with-undo.ts';
import '../../style/file-row.css';

const FailedUploads = lazy(loadUploadParts, 'FailedUploads');
const UploadRow = lazy(loadUploadParts, 'UploadRow');

export function FileList({ room, first }: FileListProps) {
  const hidden = useSignal<ReadonlySet<string>>(new Set());
  const remove = useMemo(() => createRemoval(room, hidden), [room]);
  const { recent, adderOf } = useArrivals(room, first);
  const files = newestFirst(room.content.value.files).filter(({ fileId }) => !hidden.value.has(fileId));
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
    <>
      <div class="file-summary">
        <SpaceLeft room={room} />
        {files.length > 1 && <FileTools room={room} files={files} selected={selected} onRemove={remove} />}
      </div>
      {failed.length > 1 && <FailedUploads failed={failed} />}
      {files.length + uploads.length === 0 && <NoFiles />}
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
                addedBy={file.deviceId === room.deviceId ? t('you') : adderOf(file)}
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
      <LeaveGuard uploads={room.uploads} />
    </>
  );
}

/** A file that was restored returns to its place. */
function newestFirst(files: readonly SharedFile[]): SharedFile[] {
  return [...files].reverse().sort((one, other) => Date.parse(other.uploadedAt) - Date.parse(one.uploadedAt));
}
