/** Files in a list: their thumbnails, facts, order and downloads. Encrypted files are decrypted in the page. */
import type { AnchorHTMLAttributes, ComponentChildren } from 'preact';
import { Icon } from '../../components/controls.tsx';
import { lazy } from '../../components/lazy.tsx';
import { notify } from '../../components/notices.tsx';
import { t } from '../../i18n/all-strings.ts';
import { errorMessage, size } from '../../i18n/strings.ts';
import type { RoomOfFiles, SharedFile } from '../../room/room-phase.ts';
import { hrefOf, noteFailure } from '../../server-connection.ts';
import { isImage, isViewable, kindOf } from './file-kind.ts';
import { startDownload } from './save-file.tsx';
import { Thumbnail } from './thumbnail.tsx';

const SealedThumbnail = lazy(() => import('../sealed-files/sealed-files.tsx'), 'SealedThumbnail');

type FileProps = { room: RoomOfFiles; file: SharedFile };

export function FileThumbnail({ room, file }: FileProps) {
  const { fileName, contentType, meta, once } = file;
  if (meta !== undefined && !once && isImage(contentType)) return <SealedThumbnail room={room} file={file} />;
  return <Thumbnail url={once || meta !== undefined ? '' : hrefOf(file)} name={fileName} type={contentType} />;
}

type LookProps = { class: string; 'aria-label'?: string; title?: string; children: ComponentChildren };

export function DownloadLink({ room, file, ...button }: FileProps & LookProps) {
  if (file.meta === undefined) return <a {...button} href={`${hrefOf(file)}?download`} download={file.fileName} />;
  return <button {...button} type="button" onClick={() => void downloadFiles(room, [file])} />;
}

export function DownloadButton({ room, file }: FileProps) {
  const label = t('downloadFile', { name: file.fileName });
  return (
    <DownloadLink room={room} file={file} class="button round" aria-label={label} title={t('download')}>
      <Icon name="down" />
    </DownloadLink>
  );
}

type LinkAttributes = Pick<AnchorHTMLAttributes, 'target' | 'rel' | 'onClick'>;

/** Opens the file. The browser could not open an encrypted one by a link: it is shown here, or else saved. */
export function FileName({ room, file, onOpen, ...link }: FileProps & { onOpen: () => void } & LinkAttributes) {
  const { fileId: id, fileName: title, meta } = file;
  if (meta === undefined)
    return (
      <a {...{ id, title }} href={hrefOf(file)} dir="auto" {...link}>
        {title}
      </a>
    );
  const onClick = isViewable(file) ? onOpen : () => void downloadFiles(room, [file]);
  return (
    <button type="button" class="file-name" {...{ id, title, onClick }}>
      <bdi>{title}</bdi>
    </button>
  );
}

/** The folder, the size and the type of a file for people. A one-time file has a mark instead of its type. */
export function factsOf({ folder, fileSize, fileName, contentType, once }: SharedFile): string {
  const kind = !once && kindOf(fileName, contentType);
  return [folder && `${folder}/`, size(fileSize), kind].filter(Boolean).join(' · ');
}

/** A file that was restored returns to its place. */
export const newestFirst = (files: readonly SharedFile[]): SharedFile[] =>
  files.toReversed().sort((one, other) => Date.parse(other.uploadedAt) - Date.parse(one.uploadedAt));

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

async function saveSealed(room: RoomOfFiles, files: readonly SharedFile[]): Promise<boolean> {
  const parts = await import('../sealed-files/sealed-files.tsx').catch(() => undefined);
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
