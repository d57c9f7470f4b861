/** The parts of the file panel that an empty room does not need, loaded on demand. */
import { lazy } from '../../components/lazy.tsx';
import { size } from '../../i18n/quantities.ts';
import type { SharedFile } from '../../room/room-phase.ts';

export const loadFileParts = () => import('../files/index.ts');
export const loadUploadParts = () => import('../uploads/index.ts');

export const FileRow = lazy(loadFileParts, 'FileRow', PendingRow);
export const FileTools = lazy(loadFileParts, 'FileTools');
export const OneTimeRow = lazy(loadFileParts, 'OneTimeRow', PendingRow);
export const ReceiveDialog = lazy(loadFileParts, 'ReceiveDialog');
export const FailedUploads = lazy(loadUploadParts, 'FailedUploads');
export const UploadRow = lazy(loadUploadParts, 'UploadRow');

/** As high as the row that replaces it. */
function PendingRow({ file }: { file: SharedFile }) {
  return (
    <li class="file" aria-busy="true">
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
  );
}
