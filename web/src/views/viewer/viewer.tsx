/** Shows the files of the room on the whole screen, one at a time. */
import { useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { Button, Icon, IconButton, Problem } from '../../components/controls.tsx';
import { CopyButton, canCopyImages } from '../../components/copy-button.tsx';
import { lazy } from '../../components/lazy.tsx';
import { listen } from '../../components/listen.ts';
import { MoreIcon } from '../../components/more-icon.tsx';
import { Notices, notify } from '../../components/notices.tsx';
import { t } from '../../i18n/all-strings.ts';
import { errorMessage, size } from '../../i18n/strings.ts';
import type { RoomOfFiles, SharedFile } from '../../room/room-phase.ts';
import { linkToFile } from '../../router.ts';
import { hrefOf } from '../../server-connection.ts';
import { iconOf, isViewable, kindOf, previewOf } from '../files/file-kind.ts';
import { DownloadButton, DownloadLink } from '../files/file-links.tsx';
import { type Loading, load } from '../requests.ts';
import '../../style/viewer.css';

const SealedMedia = lazy(() => import('../sealed-files/sealed-files.tsx'), 'SealedMedia');

interface ViewerProps {
  room: RoomOfFiles;
  /** All files of the room, in the order of the list. */
  files: readonly SharedFile[];
  firstId: string;
  onClose: () => void;
}

export function Viewer({ room, files, firstId, onClose }: ViewerProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const viewable = files.filter(isViewable);
  const { file, index, move } = useCurrentFile(viewable, firstId, close);
  const swipe = useSwipe(move);
  useBackButton(close);
  // Of the window, because the focused element may disappear, such as a button that was used.
  useEffect(() => listen('keydown', (event) => move(stepOf(event))));
  useLayoutEffect(() => dialog.current?.showModal(), []);
  // After the effects of the messages, one of which may ask for the focus.
  useEffect(() => dialog.current?.focus(), []);

  /** The browser restores the focus to the first file, but the user is at the current one. */
  function close(event?: Event): void {
    event?.preventDefault();
    dialog.current?.close();
    onClose();
    if (file) document.getElementById(file.fileId)?.focus();
  }

  return (
    <dialog ref={dialog} class="viewer" tabIndex={-1} aria-label={file?.fileName} onCancel={close}>
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

/** The file to the right is the next one, or the previous one in a language from right to left. */
const stepToTheRight = (): number => (document.dir === 'rtl' ? -1 : 1);

/** In a player, the arrow keys move within the recording. */
function stepOf({ key, target, altKey, ctrlKey, metaKey, shiftKey }: KeyboardEvent): number {
  if (altKey || ctrlKey || metaKey || shiftKey || target instanceof HTMLMediaElement) return 0;
  if (key === 'ArrowRight') return stepToTheRight();
  return key === 'ArrowLeft' ? -stepToTheRight() : 0;
}

function Header({ room, file, onClose }: Pick<ViewerProps, 'room' | 'onClose'> & { file: SharedFile }) {
  const { fileName, fileUrl, fileSize, contentType, meta } = file;
  const facts = [size(fileSize), kindOf(fileName, contentType)];
  const copyLabel = t('copyFileLink', { name: fileName });
  const openLabel = { 'aria-label': t('openInNewTab'), title: t('openInNewTab') };
  return (
    <header>
      <div class="viewer-title" aria-live="polite">
        <h2 dir="auto" title={fileName}>
          {fileName}
        </h2>
        <small>{facts.filter(Boolean).join(' · ')}</small>
      </div>
      {previewOf(file) === 'image' && <CopyFileImage key={fileUrl} room={room} file={file} />}
      {meta === undefined && <CopyButton key={fileUrl} text={linkToFile(file)} label={copyLabel} icon="link" compact />}
      {previewOf(file) === 'pdf' && (
        <a class="button round" href={hrefOf(file)} target="_blank" rel="noopener noreferrer" {...openLabel}>
          <MoreIcon name="open" />
        </a>
      )}
      <DownloadButton room={room} file={file} />
      <IconButton icon="close" label={t('close')} onClick={onClose} />
    </header>
  );
}

function Steps({ index, total, onMove }: { index: number; total: number; onMove: (step: number) => void }) {
  return (
    <nav class="viewer-steps" aria-label={t('files')}>
      <IconButton label={t('previousFile')} aria-disabled={index === 0} onClick={() => onMove(-1)}>
        <MoreIcon name="back" />
      </IconButton>
      <span role="status">{t('filePosition', { position: index + 1, total })}</span>
      <IconButton icon="arrow" label={t('nextFile')} aria-disabled={index === total - 1} onClick={() => onMove(1)} />
    </nav>
  );
}

/** The file is undefined while another one takes the place of a removed one. `onNone`: no file is left to show. */
function useCurrentFile(files: readonly SharedFile[], firstId: string, onNone: () => void) {
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

  /** Not beyond the ends of the list. */
  function move(step: number): void {
    // The current value, because a second key may come before the next rendering.
    const next = files[indexOf(currentId.peek()) + step];
    if (next) currentId.value = next.fileId;
  }

  return { file, index, move };
}

/** Going back takes a moment; an entry that is added meanwhile would be removed instead. */
let isBack: Promise<unknown> = Promise.resolve();

/** Adds an entry to the browser's history while the component is mounted. */
function useBackButton(onBack: () => void): void {
  const latest = useRef(onBack);
  latest.current = onBack;
  useEffect(() => {
    const end = new AbortController();
    void isBack.then(() => {
      if (end.signal.aborted) return;
      history.pushState({ isViewer: true }, '');
      addEventListener('popstate', () => latest.current(), end);
      // Unless the user has gone back already.
      end.signal.addEventListener('abort', () => {
        if (!history.state?.isViewer) return;
        isBack = new Promise((resolve) => addEventListener('popstate', resolve, { once: true }));
        history.back();
      });
    });
    return () => end.abort();
  }, []);
}

const minDistance = 50;

function useSwipe(onSwipe: (step: number) => void) {
  const start = useRef<Touch>(undefined);
  return {
    onTouchStart({ touches, target }: TouchEvent): void {
      // A swipe moves the visible part of a page that is zoomed in.
      const isZoomed = (visualViewport?.scale ?? 1) > 1.01;
      start.current = touches.length > 1 || target instanceof HTMLMediaElement || isZoomed ? undefined : touches[0];
    },
    onTouchEnd({ changedTouches: [end] }: TouchEvent): void {
      if (start.current && end) onSwipe(stepOfSwipe(start.current, end));
      start.current = undefined;
    },
  };
}

/** Content that moves to the left reveals the file to the right. */
function stepOfSwipe(start: Touch, end: Touch): number {
  const [x, y] = [end.clientX - start.clientX, end.clientY - start.clientY];
  if (Math.abs(x) < minDistance || Math.abs(x) < 2 * Math.abs(y)) return 0;
  return x < 0 ? stepToTheRight() : -stepToTheRight();
}

export function CopyFileImage({ room, file }: { room: RoomOfFiles; file: SharedFile }) {
  if (!canCopyImages()) return null;
  const png = async () => toPng(await (await room.requests()).download(file));
  return <CopyButton png={png} label={t('copyFileImage', { name: file.fileName })} icon="image" compact />;
}

/** The one image type that every browser lets a page copy. */
async function toPng(response: Response): Promise<Blob> {
  const bitmap = await createImageBitmap(await response.blob());
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
  canvas.getContext('2d')?.drawImage(bitmap, 0, 0);
  bitmap.close();
  return canvas.convertToBlob({ type: 'image/png' });
}

/** A file by its kind: an image, a player, a PDF or text. */
export function Preview({ room, file }: { room: RoomOfFiles; file: SharedFile }) {
  const { fileName } = file;
  switch (previewOf(file)) {
    case 'text':
      return <TextPreview room={room} file={file} />;
    case 'pdf':
      // The file is sandboxed by its own Content-Security-Policy; browsers show no PDF in a sandboxed frame.
      return <iframe class="viewed-pdf" src={hrefOf(file)} title={fileName} />;
    default:
      if (file.meta === undefined) return <MediaPreview room={room} file={file} url={hrefOf(file)} />;
      return <SealedMedia room={room} file={file} show={(url) => <MediaPreview room={room} file={file} url={url} />} />;
  }
}

function MediaPreview({ room, file, url }: { room: RoomOfFiles; file: SharedFile; url: string }) {
  const { fileName, contentType } = file;
  const state = useSignal<'loading' | 'shown' | 'failed'>('loading');
  const onShown = () => (state.value = 'shown');
  const onError = () => (state.value = 'failed');
  if (state.value === 'failed') return <Unplayable room={room} file={file} />;
  const preview = previewOf(file);
  const events = { onLoadedMetadata: onShown, onError };
  const player = { src: url, controls: true, preload: 'metadata', 'aria-label': fileName, ...events } as const;
  return (
    <>
      {state.value === 'loading' && <p class="aside">{t('loading')}</p>}
      {preview === 'image' && <img src={url} alt={fileName} onLoad={onShown} onError={onError} />}
      {preview === 'video' && <video {...player} playsInline />}
      {preview === 'audio' && (
        <div class="viewed-audio">
          <MoreIcon name={iconOf(fileName, contentType)} />
          <audio {...player} />
        </div>
      )}
    </>
  );
}

/** A damaged file, or a format that this browser does not support. */
function Unplayable({ room, file }: { room: RoomOfFiles; file: SharedFile }) {
  return (
    <div class="unplayable">
      <MoreIcon name={iconOf(file.fileName, file.contentType)} />
      <p role="alert">{t('cannotShowFile')}</p>
      <DownloadLink class="button primary" room={room} file={file}>
        <Icon name="down" />
        {t('download')}
      </DownloadLink>
    </div>
  );
}

/** The beginning of a text file, in a fixed-width font. */
function TextPreview({ room, file }: { room: RoomOfFiles; file: SharedFile }) {
  const state = useSignal<Loading<TextFile>>({});
  const attempt = useSignal(1);
  useEffect(() => {
    const aborter = new AbortController();
    const { signal } = aborter;
    state.value = {};
    void load(async () => readText(await (await room.requests()).download(file, { signal }))).then((next) => {
      if (!signal.aborted) state.value = next;
    });
    return () => aborter.abort();
  }, [attempt.value]);

  const { value: text, error } = state.value;
  if (error)
    return (
      <div class="unplayable">
        <Problem>{errorMessage(error)}</Problem>
        <Button label={t('tryAgain')} onClick={() => attempt.value++} />
      </div>
    );
  if (!text?.content) return <p class="aside">{t(text ? 'fileEmpty' : 'loading')}</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and must do so by keyboard too
    <section class="viewed-text" aria-label={t('preview')} tabIndex={0}>
      {text.isCut && <p class="aside">{t('fileCut', { size: size(maxTextBytes) })}</p>}
      <pre dir="auto">{text.content}</pre>
    </section>
  );
}

const maxTextBytes = 256 * 1024;

/** `isCut`: whether the file is longer. */
type TextFile = { content: string; isCut: boolean };

/** Reads no more of the response than it needs. */
async function readText(response: Response): Promise<TextFile> {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let content = '';
  let space = maxTextBytes;
  for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) {
    content += decoder.decode(next.value.subarray(0, space), { stream: true });
    space -= next.value.length;
    if (space >= 0) continue;
    await reader?.cancel();
    // Without the rest of the decoder: half a character would become a replacement character.
    return { content, isCut: true };
  }
  return { content: content + decoder.decode(), isCut: false };
}
