/** Shows the files of the room on the whole screen, one at a time. */
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { CopyButton, canCopyImages } from '../../components/copy-button.tsx';
import { Icon } from '../../components/icon.tsx';
import { MoreIcon } from '../../components/more-icon.tsx';
import { Notices, notify } from '../../components/notices.tsx';
import { t } from '../../i18n/all-strings.ts';
import { size } from '../../i18n/quantities.ts';
import type { RoomOfFiles, SharedFile } from '../../room/room-phase.ts';
import { linkToFile } from '../../router.ts';
import { hrefOf } from '../../server-connection.ts';
import { isViewable, kindOf, previewOf } from '../files/file-kind.ts';
import { DownloadLink } from '../files/file-links.tsx';
import { Preview } from './preview.tsx';
import '../../style/viewer.css';
import { useSignal } from '@preact/signals';

interface ViewerProps {
  room: RoomOfFiles;
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
        <CopyButton
          key={fileUrl}
          text={linkToFile(file)}
          label={t('copyFileLink', { name: fileName })}
          icon="link"
          compact
        />
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

interface CurrentFile {
  /** Undefined while another file takes the place of a removed one. */
  file: SharedFile | undefined;
  index: number;
  /** Moves by a number of files, but not beyond the ends of the list. */
  move(step: number): void;
}

/** `onNone` is called when no file is left to show. */
function useCurrentFile(files: readonly SharedFile[], firstId: string, onNone: () => void): CurrentFile {
  const currentId = useSignal(firstId);
  const indexOf = (id: string) => files.findIndex(({ fileId }) => fileId === id);
  const index = indexOf(currentId.value);
  const file = files[index];
  const last = useRef<{ file: SharedFile; index: number }>(undefined);

  // Someone has removed the file: show the one that followed it.
  useLayoutEffect(() => {
    if (file) {
      last.current = { file, index };
      return;
    }
    if (last.current) notify(t('fileWasRemoved', { name: last.current.file.fileName }));
    const next = last.current && files[Math.min(last.current.index, files.length - 1)];
    if (next) currentId.value = next.fileId;
    else onNone();
  });

  return {
    file,
    index,
    move(step) {
      // The current value, because a second key may come before the next rendering.
      const next = files[indexOf(currentId.peek()) + step];
      if (next) currentId.value = next.fileId;
    },
  };
}

/** Going back takes a moment; an entry that is added meanwhile would be removed instead. */
let isBack: Promise<unknown> = Promise.resolve();

/** Adds an entry to the browser's history while the component is mounted. */
function useBackButton(onBack: () => void): void {
  const latest = useRef(onBack);
  latest.current = onBack;
  useEffect(() => {
    let stop: (() => void) | undefined = () => undefined;
    void isBack.then(() => {
      stop &&= addEntry(() => latest.current());
    });
    return () => {
      stop?.();
      stop = undefined;
    };
  }, []);
}

/** Returns a function that removes the entry, unless the user has gone back already. */
function addEntry(onBack: () => void): () => void {
  history.pushState({ isViewer: true }, '');
  addEventListener('popstate', onBack);
  return () => {
    removeEventListener('popstate', onBack);
    if (history.state?.isViewer) isBack = goBack();
  };
}

function goBack(): Promise<unknown> {
  return new Promise((resolve) => {
    addEventListener('popstate', resolve, { once: true });
    history.back();
  });
}

type Direction = 'left' | 'right';

const minDistance = 50;

/** Returns the event handlers of the element. */
function useSwipe(onSwipe: (direction: Direction) => void) {
  const start = useRef<Touch>(undefined);
  return {
    onTouchStart({ touches, target }: TouchEvent): void {
      const isPlayer = target instanceof HTMLMediaElement;
      start.current = touches.length > 1 || isPlayer || isZoomed() ? undefined : touches[0];
    },
    onTouchEnd({ changedTouches: [end] }: TouchEvent): void {
      const direction = start.current && end && directionOf(start.current, end);
      start.current = undefined;
      if (direction) onSwipe(direction);
    },
  };
}

/** Then a swipe moves the visible part of the page. */
const isZoomed = () => (visualViewport?.scale ?? 1) > 1.01;

function directionOf(start: Touch, end: Touch): Direction | undefined {
  const [x, y] = [end.clientX - start.clientX, end.clientY - start.clientY];
  if (Math.abs(x) < minDistance || Math.abs(x) < 2 * Math.abs(y)) return undefined;
  return x < 0 ? 'left' : 'right';
}

export interface CopiedFile {
  room: RoomOfFiles;
  file: SharedFile;
}

/** A button that copies a shared image to the clipboard, in browsers that support it. */
export function CopyFileImage({ room, file }: CopiedFile) {
  if (!canCopyImages()) return null;
  return (
    <CopyButton
      png={async () => toPng(await (await room.requests()).download(file))}
      label={t('copyFileImage', { name: file.fileName })}
      icon="image"
      compact
    />
  );
}

/** The one image type that every browser lets a page copy. */
async function toPng(response: Response): Promise<Blob> {
  const bitmap = await createImageBitmap(await response.blob());
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
  canvas.getContext('2d')?.drawImage(bitmap, 0, 0);
  bitmap.close();
  return canvas.convertToBlob({ type: 'image/png' });
}
