/** The thumbnail of a file and the button that downloads it. Those of an encrypted file are decrypted in the page. */
import type { ComponentChildren } from 'preact';
import { lazy } from '../../components/lazy.tsx';
import { notify } from '../../components/notices.tsx';
import { t } from '../../i18n/all-strings.ts';
import { errorMessage } from '../../i18n/error-message.ts';
import { noteFailure } from '../../room/request-limit.ts';
import type { RoomOfFiles, SharedFile } from '../../room/room-phase.ts';
import { hrefOf } from '../../server-connection.ts';
import { isImage } from './file-kind.ts';
import { startDownload } from './save-file.ts';
import { Thumbnail } from './thumbnail.tsx';

const SealedThumbnail = lazy(() => import('../sealed-files/sealed-media.tsx'), 'SealedThumbnail');

interface FileProps {
  room: RoomOfFiles;
  file: SharedFile;
}

export function FileThumbnail({ room, file }: FileProps) {
  const { fileName, contentType, meta, once } = file;
  if (meta !== undefined && !once && isImage(contentType)) return <SealedThumbnail room={room} file={file} />;
  return <Thumbnail url={once || meta !== undefined ? '' : hrefOf(file)} name={fileName} type={contentType} />;
}

interface DownloadProps extends FileProps {
  class: string;
  'aria-label'?: string;
  title?: string;
  children: ComponentChildren;
}

export function DownloadLink({ room, file, ...button }: DownloadProps) {
  if (file.meta === undefined) return <a {...button} href={`${hrefOf(file)}?download`} download={file.fileName} />;
  return <button {...button} type="button" onClick={() => void downloadFiles(room, [file])} />;
}

/** The files that a download link or an archive can contain. */
export const isDownloadable = ({ once }: SharedFile): boolean => !once;

/** The maximum of the server, unless an archive has all files. */
const maxSelected = 200;

/** Returns whether the download has started. */
export async function downloadFiles(room: RoomOfFiles, files: readonly SharedFile[]): Promise<boolean> {
  const [first, second] = files;
  if (!first) return false;
  if (first.meta !== undefined) return saveSealed(room, files);
  if (second) return downloadArchive(room, files);
  startDownload(`${hrefOf(first)}?download`, first.fileName);
  return true;
}

/** Encrypted files are decrypted in the page. */
async function saveSealed(room: RoomOfFiles, files: readonly SharedFile[]): Promise<boolean> {
  const parts = await import('../sealed-files/sealed-downloads.tsx').catch(() => undefined);
  if (parts) parts.saveFiles(room, files);
  else notify(t('loadFailed'));
  return parts !== undefined;
}

/** The URL of an archive is valid for a minute, so it is requested for each download. */
async function downloadArchive(room: RoomOfFiles, files: readonly SharedFile[]): Promise<boolean> {
  const isAll = files.length === room.content.value.files.filter(isDownloadable).length;
  if (!isAll && files.length > maxSelected) {
    notify(t('tooManySelected', { n: maxSelected }));
    return false;
  }
  try {
    const url = await (await room.requests()).zipUrl({ files: isAll ? undefined : files.map(({ fileId }) => fileId) });
    startDownload(url, '');
    return true;
  } catch (error) {
    notify(errorMessage(noteFailure(error)));
    return false;
  }
}
