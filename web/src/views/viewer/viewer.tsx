/** Shows the files of the room on the whole screen, one at a time. */
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { CopyButton } from '../../components/copy-button.tsx';
import { Icon } from '../../components/icon.tsx';
import { MoreIcon } from '../../components/more-icon.tsx';
import { Notices } from '../../components/notices.tsx';
import { t } from '../../i18n/all-strings.ts';
import { size } from '../../i18n/quantities.ts';
import type { RoomModel } from '../../room/room.ts';
import type { SharedFile } from '../../room/room-phase.ts';
import { hrefOf } from '../../server.ts';
import { isViewable, kindOf, previewOf } from '../files/file-kind.ts';
import { DownloadLink } from '../files/file-links.tsx';
import { useBackButton } from './back-button.ts';
import { type CopiedFile, CopyFileImage } from './copy-file-image.tsx';
import { useCurrentFile } from './current-file.ts';
import { Preview } from './preview.tsx';
import { type Direction, useSwipe } from './swipe.ts';
import '../../style/viewer.css';

export { type CopiedFile, CopyFileImage };

interface ViewerProps {
  room: RoomModel;
  /** All files of the room, in the order of the list. */
  files: readonly SharedFile[];
  /** The file to show first. */
  firstId: string;
  onClose: () => void;
}

export function Viewer({ room, files, firstId, onClose }: ViewerProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const viewable = files.filter(isViewable);
  const { file, index, move } = useCurrentFile(viewable, firstId, close);
  const swipe = useSwipe((direction) => move(stepTo(direction)));
  useBackButton(close);
  // Of the window, because the focused element may disappear, such as a button that was used.
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => move(stepOf(event));
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  });
  useLayoutEffect(() => dialog.current?.showModal(), []);
  // After the effects of the messages, one of which may ask for the focus.
  useEffect(() => dialog.current?.focus(), []);

  /** The browser restores the focus to the first file, but the user is at the current one. */
  function close(): void {
    dialog.current?.close();
    onClose();
    if (file) document.getElementById(file.fileId)?.focus();
  }

  return (
    <dialog
      ref={dialog}
      class="viewer"
      tabIndex={-1}
      aria-label={file?.fileName}
      onCancel={(event) => {
        event.preventDefault();
        close();
      }}
    >
      {file && (
        <>
          <Header room={room} file={file} onClose={close} />
          <div class="viewer-stage" {...swipe}>
            <Preview key={file.fileId} room={room} file={file} />
          </div>
          {viewable.length > 1 && <Steps index={index} total={viewable.length} onMove={move} />}
        </>
      )}
      <Notices />
    </dialog>
  );
}

/** Content that moves to the left reveals the next file, or the previous one in a language from right to left. */
function stepTo(direction: Direction): number {
  return (direction === 'left') === (document.dir === 'rtl') ? -1 : 1;
}

/** In a player, the arrow keys move within the recording. */
function stepOf({ key, target, altKey, ctrlKey, metaKey, shiftKey }: KeyboardEvent): number {
  if (altKey || ctrlKey || metaKey || shiftKey || target instanceof HTMLMediaElement) return 0;
  if (key === 'ArrowRight') return stepTo('left');
  return key === 'ArrowLeft' ? stepTo('right') : 0;
}

function Header({ room, file, onClose }: Pick<ViewerProps, 'room' | 'onClose'> & { file: SharedFile }) {
  const { fileName, fileUrl, fileSize, contentType, meta } = file;
  const facts = [size(fileSize), kindOf(fileName, contentType)];
  return (
    <header>
      <div class="viewer-title" aria-live="polite">
        <h2 dir="auto" title={fileName}>
          {fileName}
        </h2>
        <small>{facts.filter(Boolean).join(' · ')}</small>
      </div>
      {previewOf(file) === 'image' && <CopyFileImage key={fileUrl} room={room} file={file} />}
      {meta === undefined && (
        <CopyButton key={fileUrl} text={fileUrl} label={t('copyFileLink', { name: fileName })} icon="link" compact />
      )}
      {previewOf(file) === 'pdf' && (
        <a
          class="button round"
          href={hrefOf(file)}
          target="_blank"
          rel="noopener noreferrer"
          aria-label={t('openInNewTab')}
          title={t('openInNewTab')}
        >
          <MoreIcon name="open" />
        </a>
      )}
      <DownloadLink
        room={room}
        file={file}
        class="button round"
        aria-label={t('downloadFile', { name: fileName })}
        title={t('download')}
      >
        <Icon name="down" />
      </DownloadLink>
      <button type="button" class="button round" aria-label={t('close')} title={t('close')} onClick={onClose}>
        <Icon name="close" />
      </button>
    </header>
  );
}

interface StepsProps {
  index: number;
  total: number;
  onMove: (step: number) => void;
}

function Steps({ index, total, onMove }: StepsProps) {
  return (
    <nav class="viewer-steps" aria-label={t('files')}>
      <button
        type="button"
        class="button round"
        aria-label={t('previousFile')}
        title={t('previousFile')}
        aria-disabled={index === 0}
        onClick={() => onMove(-1)}
      >
        <MoreIcon name="back" />
      </button>
      <span role="status">{t('filePosition', { position: index + 1, total })}</span>
      <button
        type="button"
        class="button round"
        aria-label={t('nextFile')}
        title={t('nextFile')}
        aria-disabled={index === total - 1}
        onClick={() => onMove(1)}
      >
        <Icon name="arrow" />
      </button>
    </nav>
  );
}
