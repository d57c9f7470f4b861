/** A file of the room: open, download, copy its link, remove. */
import { useId, useRef } from 'preact/hooks';
import { CopyButton } from '../../components/copy-button.tsx';
import { Icon } from '../../components/icon.tsx';
import { MoreIcon } from '../../components/more-icon.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { t } from '../../i18n/index.ts';
import { size } from '../../i18n/quantities.ts';
import type { RoomModel } from '../../room/room.ts';
import type { SharedFile } from '../../room/room-phase.ts';
import { onPlainClick } from '../../router.ts';
import { CopyFileImage } from '../room/lazy-viewer.ts';
import { isViewable, kindOf, previewOf } from './file-kind.ts';
import { Thumbnail } from './thumbnail.tsx';

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
  const { fileId, fileName, fileUrl, fileSize, contentType, uploadedAt, folder } = file;
  const facts = [folder && `${folder}/`, size(fileSize), kindOf(fileName, contentType)];
  return (
    <li class="file" data-id={file.fileId} data-new={isNew || undefined}>
      <Thumbnail url={fileUrl} name={fileName} type={contentType} />
      <div class="file-info">
        <a
          id={fileId}
          href={fileUrl}
          target="_blank"
          rel="noopener noreferrer"
          dir="auto"
          title={fileName}
          onClick={isViewable(file) ? onPlainClick(onView) : undefined}
        >
          {fileName}
        </a>
        <small>
          <span>{facts.filter(Boolean).join(' · ')}</span>
          <span>
            <bdi>{addedBy}</bdi> · <TimeAgo at={uploadedAt} />
          </span>
        </small>
      </div>
      <div class="file-actions">
        <a
          class="button round"
          href={`${fileUrl}?download`}
          download={fileName}
          aria-label={t('downloadFile', { name: fileName })}
          title={t('download')}
        >
          <Icon name="down" />
        </a>
        <FileMenu room={room} file={file} onRemove={onRemove} />
      </div>
    </li>
  );
}

/** Buttons in the row, or on a touch screen a menu, where nobody taps Remove instead of Download. */
export function FileMenu({ room, file, onRemove }: Pick<Props, 'room' | 'file' | 'onRemove'>) {
  const { fileName, fileUrl, once } = file;
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
        {!once && <CopyButton text={fileUrl} label={t('copyFileLink', { name: fileName })} icon="link" compact />}
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
