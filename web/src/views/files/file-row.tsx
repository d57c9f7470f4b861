/** A file of the room: open, download, copy its link, remove. */
import { useId, useRef } from 'preact/hooks';
import { Button, IconButton } from '../../components/controls.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { Icon } from '../../components/icon.tsx';
import { lazy } from '../../components/lazy.tsx';
import { notify } from '../../components/notices.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { t } from '../../i18n/all-strings.ts';
import type { RoomModel, SharedFile } from '../../room/room-phase.ts';
import { linkToFile, onPlainClick } from '../../router.ts';
import { hrefOf } from '../../server-connection.ts';
import { isViewable, previewOf } from './file-kind.ts';
import { DownloadButton, FileName, FileThumbnail, factsOf } from './file-links.tsx';

const CopyFileImage = lazy(() => import('../viewer/viewer.tsx'), 'CopyFileImage');

interface Props {
  room: RoomModel;
  file: SharedFile;
  /** The device that added it. */
  addedBy: string;
  isNew: boolean;
  /** Opens the viewer, or receives a one-time file. */
  onOpen: () => void;
  onRemove: (byKeyboard: boolean) => void;
}

/** A file that is deleted after its first download can be received or removed, but not opened or linked. */
export function FileRow({ room, file, addedBy, isNew, onOpen, onRemove }: Props) {
  const { fileId, fileName: name, once } = file;
  const kind = once ? 'one-time' : isPhoto(file) && 'photo';
  const onClick = isViewable(file) ? onPlainClick(onOpen) : undefined;
  const onDragStart = (event: DragEvent) => offerDownload(event, file);
  return (
    <li class={`file ${kind || ''}`} data-id={fileId} data-new={isNew || undefined} onDragStart={onDragStart}>
      <FileThumbnail room={room} file={file} />
      <div class="file-info">
        {once ? (
          <span dir="auto" title={name}>
            {name}
          </span>
        ) : (
          <FileName {...{ room, file, onOpen, onClick }} target="_blank" rel="noopener noreferrer" />
        )}
        <small>
          <span>{factsOf(file)}</span>
          <span>
            <bdi>{addedBy}</bdi> · <TimeAgo at={file.uploadedAt} />
          </span>
        </small>
        {once && (
          <small class="once-mark">
            <Icon name="once" />
            {t('oneTimeFile')}
          </small>
        )}
      </div>
      <div class="file-actions">
        {once ? (
          <Button class="receive" icon="down" aria-label={t('receiveFile', { name })} onClick={onOpen}>
            <span>{t('receive')}</span>
          </Button>
        ) : (
          <DownloadButton room={room} file={file} />
        )}
        <FileMenu room={room} file={file} onRemove={onRemove} />
      </div>
    </li>
  );
}

/** Shown in the grid of pictures. */
export const isPhoto = (file: SharedFile): boolean => previewOf(file) === 'image';

/** Lets the link of a file be dropped on the desktop. A browser could not decrypt a file there. */
function offerDownload({ dataTransfer }: DragEvent, file: SharedFile): void {
  if (file.meta !== undefined || file.once) return;
  const url = new URL(`${hrefOf(file)}?download`, location.href);
  // The parts are separated by colons.
  dataTransfer?.setData('DownloadURL', `${file.contentType}:${file.fileName.replaceAll(':', '_')}:${url.href}`);
}

/** Buttons in the row, or on a touch screen a menu, where nobody taps Remove instead of Download. */
function FileMenu({ room, file, onRemove }: Pick<Props, 'room' | 'file' | 'onRemove'>) {
  const { fileName: name, once, meta } = file;
  const id = useId();
  const menu = useRef<HTMLDivElement>(null);
  const remove = ({ detail }: MouseEvent) => onRemove(detail === 0);
  return (
    <>
      <Button class="round more" icon="more" popovertarget={id} aria-label={t('moreActions', { name })} />
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: closes the menu after a click on one of its buttons, by key or not. */}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: see above */}
      <div class="file-menu" id={id} popover="auto" ref={menu} onClick={() => menu.current?.hidePopover?.()}>
        {previewOf(file) === 'image' && <CopyFileImage room={room} file={file} />}
        {!once && meta === undefined && (
          <CopyButton text={linkToFile(file)} label={t('copyFileLink', { name })} icon="link" compact />
        )}
        {isSharable(file) && <ShareButton room={room} file={file} />}
        <IconButton class="remove" icon="delete" label={t('removeFile', { name })} onClick={remove} />
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
  const { fileName: name, contentType: type } = file;
  // A browser that waited too long for the file requires another click, and then the file is there.
  const loaded = useRef<File>(undefined);

  async function onClick() {
    try {
      const load = async () => (await (await room.requests()).download(file)).blob();
      loaded.current ??= new File([await load()], name, { type });
      await navigator.share({ files: [loaded.current] });
    } catch (error) {
      const isCancelled = error instanceof DOMException && error.name === 'AbortError';
      if (!isCancelled) notify(t('shareFailed'));
    }
  }

  return <IconButton icon="share" label={t('shareFile', { name })} onClick={onClick} />;
}
