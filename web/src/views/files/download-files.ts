/** Downloads files with the browser: one as it is, several as a zip archive. */
import { notify } from '../../components/notices.tsx';
import { t } from '../../i18n/all-strings.ts';
import { errorMessage } from '../../i18n/error-message.ts';
import { noteFailure } from '../../room/request-limit.ts';
import type { RoomModel } from '../../room/room.ts';
import type { SharedFile } from '../../room/room-phase.ts';
import { hrefOf } from '../../server.ts';
import { loadSealedFiles } from './lazy-sealed-files.ts';
import { startDownload } from './save-file.ts';

/** The files that a download link or an archive can contain. */
export const isDownloadable = ({ once }: SharedFile): boolean => !once;

/** The maximum of the server, unless an archive has all files. */
const maxSelected = 200;

/** Returns whether the download has started. */
export async function downloadFiles(room: RoomModel, files: readonly SharedFile[]): Promise<boolean> {
  const [first, second] = files;
  if (!first) return false;
  if (first.meta !== undefined) return saveSealed(room, files);
  if (second) return downloadArchive(room, files);
  startDownload(`${hrefOf(first)}?download`, first.fileName);
  return true;
}

/** Encrypted files are decrypted in the page. */
async function saveSealed(room: RoomModel, files: readonly SharedFile[]): Promise<boolean> {
  const parts = await loadSealedFiles().catch(() => undefined);
  if (parts) parts.saveFiles(room, files);
  else notify(t('loadFailed'));
  return parts !== undefined;
}

/** The URL of an archive is valid for a minute, so it is requested for each download. */
async function downloadArchive(room: RoomModel, files: readonly SharedFile[]): Promise<boolean> {
  const isAll = files.length === room.content.value.files.filter(isDownloadable).length;
  if (!isAll && files.length > maxSelected) {
    notify(t('tooManySelected', { n: maxSelected }));
    return false;
  }
  try {
    const url = await room.requests().zipUrl({ files: isAll ? undefined : files.map(({ fileId }) => fileId) });
    startDownload(url, '');
    return true;
  } catch (error) {
    notify(errorMessage(noteFailure(error)));
    return false;
  }
}
