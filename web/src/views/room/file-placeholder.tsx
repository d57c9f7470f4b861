/** The parts of the file list that an empty room shows, and rows for files while the code of the list is loaded. */
import { size, t } from '../../i18n/strings.ts';
import type { RoomModel, SharedFile } from '../../room/room-phase.ts';

/** `first`: the files that were in the room when it was joined. */
export type FileListProps = { room: RoomModel; first: readonly SharedFile[] };

/** The rows are as high as those that replace them. */
export function PendingFiles({ room }: FileListProps) {
  const { files } = room.content.value;
  return (
    <>
      {files.length === 0 && <NoFiles />}
      <ul class="files">
        {files.toReversed().map((file) => (
          <li key={file.fileId} class="file" aria-busy="true">
            <i class="thumbnail" />
            <div class="file-info">
              <span dir="auto">{file.fileName}</span>
              <small>
                <span>{size(file.fileSize)}</span>
                <span>…</span>
              </small>
            </div>
            <i class="button" />
          </li>
        ))}
      </ul>
    </>
  );
}

export const NoFiles = () => <p class="empty">{t('noFiles')}</p>;
