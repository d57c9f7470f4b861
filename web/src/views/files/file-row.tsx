/** A file of the room: open, download, copy its link, remove. */
import { useId, useRef } from 'preact/hooks';
import { CopyButton } from '../../components/copy-button.tsx';
import { Icon } from '../../components/icon.tsx';
import { lazy } from '../../components/lazy.tsx';
import { MoreIcon } from '../../components/more-icon.tsx';
import { notify } from '../../components/notices.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { t } from '../../i18n/all-strings.ts';
import { size } from '../../i18n/quantities.ts';
import type { RoomModel, SharedFile } from '../../room/room-phase.ts';
import { linkToFile, onPlainClick } from '../../router.ts';
import { hrefOf } from '../../server-connection.ts';
import { isViewable, kindOf, previewOf } from './file-kind.ts';
import { DownloadLink, downloadFiles, FileThumbnail } from './file-links.tsx';
import { Thumbnail } from './thumbnail.tsx';

const CopyFileImage = lazy(() => import('../viewer/viewer.tsx'), 'CopyFileImage');

interface Props {
  room: RoomModel;
  file: SharedFile;
  /** The device that added it. */
  addedBy: string;
  isNew: boolean;
  /** Opens the viewer. */
  onView: () => void;
  onRemove: (byKeyboard: boolean) => void;
}

export function FileRow({ room, file, addedBy, isNew, onView, onRemove }: Props) {
  const { fileName, fileSize, contentType, uploadedAt, folder } = file;
  const facts = [folder && `${folder}/`, size(fileSize), kindOf(fileName, contentType)];
  return (
    <li
      class={isPhoto(file) ? 'file photo' : 'file'}
      data-id={file.fileId}
      data-new={isNew || undefined}
      onDragStart={(event) => offerDownload(event, file)}
    >
      <FileThumbnail room={room} file={file} />
      <div class="file-info">
        <FileName room={room} file={file} onView={onView} />
        <small>
          <span>{facts.filter(Boolean).join(' · ')}</span>
          <span>
            <bdi>{addedBy}</bdi> · <TimeAgo at={uploadedAt} />
          </span>
        </small>
      </div>
      <div class="file-actions">
        <DownloadLink
          room={room}
          file={file}
          class="button round"
          aria-label={t('downloadFile', { name: fileName })}
          title={t('download')}
        >
          <Icon name="down" />
        </DownloadLink>
        <FileMenu room={room} file={file} onRemove={onRemove} />
      </div>
    </li>
  );
}

/** Shown in the grid of pictures. */
export const isPhoto = (file: SharedFile): boolean => previewOf(file) === 'image';

/** Lets the link of a file be dropped on the desktop. A browser could not decrypt a file there. */
function offerDownload({ dataTransfer }: DragEvent, file: SharedFile): void {
  if (file.meta !== undefined) return;
  const url = new URL(`${hrefOf(file)}?download`, location.href);
  // The parts are separated by colons.
  dataTransfer?.setData('DownloadURL', `${file.contentType}:${file.fileName.replaceAll(':', '_')}:${url.href}`);
}

/** Opens the file. The browser could not open an encrypted one by a link: it is shown here, or else saved. */
function FileName({ room, file, onView }: Pick<Props, 'room' | 'file' | 'onView'>) {
  const { fileId: id, fileName: title, meta } = file;
  if (meta !== undefined) {
    const onClick = isViewable(file) ? onView : () => void downloadFiles(room, [file]);
    return (
      <button type="button" class="file-name" {...{ id, title, onClick }}>
        <bdi>{title}</bdi>
      </button>
    );
  }
  return (
    <a
      {...{ id, title }}
      href={hrefOf(file)}
      target="_blank"
      rel="noopener noreferrer"
      dir="auto"
      onClick={isViewable(file) ? onPlainClick(onView) : undefined}
    >
      {title}
    </a>
  );
}

/** Buttons in the row, or on a touch screen a menu, where nobody taps Remove instead of Download. */
function FileMenu({ room, file, onRemove }: Pick<Props, 'room' | 'file' | 'onRemove'>) {
  const { fileName, once, meta } = file;
  const id = useId();
  const menu = useRef<HTMLDivElement>(null);
  return (
    <>
      <button
        type="button"
        class="button round more"
        popovertarget={id}
        aria-label={t('moreActions', { name: fileName })}
      >
        <MoreIcon name="more" />
      </button>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: closes the menu after a click on one of its buttons, by key or not. */}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: see above */}
      <div class="file-menu" id={id} popover="auto" ref={menu} onClick={() => menu.current?.hidePopover?.()}>
        {previewOf(file) === 'image' && <CopyFileImage room={room} file={file} />}
        {!once && meta === undefined && (
          <CopyButton text={linkToFile(file)} label={t('copyFileLink', { name: fileName })} icon="link" compact />
        )}
        {isSharable(file) && <ShareButton room={room} file={file} />}
        <button
          type="button"
          class="button round remove"
          aria-label={t('removeFile', { name: fileName })}
          title={t('removeFile', { name: fileName })}
          onClick={({ detail }) => onRemove(detail === 0)}
        >
          <Icon name="delete" />
        </button>
      </div>
    </>
  );
}

/** A larger file would take much memory. */
const maxSharedBytes = 64 * 1024 * 1024;

const isSharable = ({ fileSize, once }: SharedFile): boolean =>
  !once && fileSize <= maxSharedBytes && (navigator.canShare?.({ files: [new File([], 'file.txt')] }) ?? false);

/** Opens the share sheet of the system. */
function ShareButton({ room, file }: Pick<Props, 'room' | 'file'>) {
  const name = file.fileName;
  const label = t('shareFile', { name });
  // A browser that waited too long for the file requires another click, and then the file is there.
  const loaded = useRef<File>(undefined);

  async function onClick() {
    try {
      const load = async () => (await (await room.requests()).download(file)).blob();
      loaded.current ??= new File([await load()], name, { type: file.contentType });
      await navigator.share({ files: [loaded.current] });
    } catch (error) {
      const isCancelled = error instanceof DOMException && error.name === 'AbortError';
      if (!isCancelled) notify(t('shareFailed'));
    }
  }

  return (
    <button type="button" class="button round" aria-label={label} title={label} onClick={onClick}>
      <Icon name="share" />
    </button>
  );
}

interface OneTimeRowProps {
  room: RoomModel;
  file: SharedFile;
  /** The device that added it. */
  addedBy: string;
  isNew: boolean;
  onReceive: () => void;
  onRemove: (byKeyboard: boolean) => void;
}

/** A file that is deleted after its first download: it can be received or removed, but not opened or linked. */
export function OneTimeRow({ room, file, addedBy, isNew, onReceive, onRemove }: OneTimeRowProps) {
  const { fileId, fileName: name, fileSize, contentType, uploadedAt, folder } = file;
  return (
    <li class="file one-time" data-id={fileId} data-new={isNew || undefined}>
      <Thumbnail url="" name={name} type={contentType} />
      <div class="file-info">
        <span dir="auto" title={name}>
          {name}
        </span>
        <small>
          <span>{folder ? `${folder}/ · ${size(fileSize)}` : size(fileSize)}</span>
          <span>
            <bdi>{addedBy}</bdi> · <TimeAgo at={uploadedAt} />
          </span>
        </small>
        <small class="once-mark">
          <Icon name="once" />
          {t('oneTimeFile')}
        </small>
      </div>
      <div class="file-actions">
        <button type="button" class="button receive" aria-label={t('receiveFile', { name })} onClick={onReceive}>
          <Icon name="down" />
          <span>{t('receive')}</span>
        </button>
        <FileMenu room={room} file={file} onRemove={onRemove} />
      </div>
    </li>
  );
}
