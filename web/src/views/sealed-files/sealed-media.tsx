/** An image, a sound or a video of an encrypted room in the viewer. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { PoproomError } from '../../../../src/client/error.ts';
import { t } from '../../i18n/all-strings.ts';
import { errorMessage } from '../../i18n/error-message.ts';
import { percent } from '../../i18n/quantities.ts';
import { noteFailure } from '../../room/request-limit.ts';
import type { RoomOfFiles, SharedFile } from '../../room/room-phase.ts';
import { collectBlob, countBytes } from '../files/save-file.ts';
import { Thumbnail } from '../files/thumbnail.tsx';

/** `show` renders the decrypted file. */
type MediaProps = { room: RoomOfFiles; file: SharedFile; show: (url: string) => ComponentChildren };

type MediaState =
  | { name: 'decrypting'; bytes: number }
  | { name: 'shown'; url: string }
  | { name: 'failed'; message: string };

export function SealedMedia({ room, file, show }: MediaProps) {
  const state = useSignal<MediaState>({ name: 'decrypting', bytes: 0 });
  useEffect(() => {
    if (file.fileSize > maxMediaBytes) {
      state.value = { name: 'failed', message: t('tooLargeToShow') };
      return;
    }
    const aborter = new AbortController();
    const { signal } = aborter;
    const onBytes = (bytes: number) => {
      if (!signal.aborted) state.value = { name: 'decrypting', bytes };
    };
    openMedia(room, file, signal, onBytes).then(
      (blob) => {
        if (signal.aborted) return;
        const url = URL.createObjectURL(blob);
        signal.addEventListener('abort', () => URL.revokeObjectURL(url));
        state.value = { name: 'shown', url };
      },
      (error) => {
        if (!signal.aborted) state.value = { name: 'failed', message: errorMessage(noteFailure(error)) };
      },
    );
    return () => aborter.abort();
  }, []);

  const { value } = state;
  if (value.name === 'shown') return <>{show(value.url)}</>;
  if (value.name === 'failed')
    return (
      <div class="unplayable">
        <p role="alert">{value.message}</p>
      </div>
    );
  const share = file.fileSize === 0 ? 1 : value.bytes / file.fileSize;
  return <p class="aside">{`${t('decrypting')} ${percent(share)}`}</p>;
}

/** Larger images show an icon in the list. */
const maxBytes = 16 * 1024 * 1024;
const maxKept = 200;
const maxConcurrent = 2;
/** In pixels, for a screen of high density. */
const side = 360;

/** The URLs of thumbnails, by the metadata of the file: the server chooses its URL. The list and the selection show the same. */
const kept = new Map<string, string>();

/** A thumbnail of an encrypted image: decrypted when it is first visible, and kept small. */
export function SealedThumbnail({ room, file }: { room: RoomOfFiles; file: SharedFile }) {
  const { fileName, fileSize, contentType, meta = '' } = file;
  const url = useSignal(kept.get(meta) ?? '');
  const place = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    if (url.value || fileSize > maxBytes) return;
    const aborter = new AbortController();
    onceVisible(place.current, aborter.signal, () =>
      inTurn(async () => {
        if (!aborter.signal.aborted) url.value = await createThumbnail(room, file, aborter.signal);
      }),
    );
    return () => aborter.abort();
  }, []);
  return (
    <span class="sealed-thumbnail" ref={place}>
      <Thumbnail key={url.value} url={url.value} name={fileName} type={contentType} />
    </span>
  );
}

/** When the user leaves the room. */
export function forgetThumbnails(): void {
  for (const url of kept.values()) URL.revokeObjectURL(url);
  kept.clear();
}

function onceVisible(element: Element | null, signal: AbortSignal, run: () => void): void {
  if (!element) return;
  const observer = new IntersectionObserver((entries) => {
    if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
    observer.disconnect();
    run();
  });
  observer.observe(element);
  signal.addEventListener('abort', () => observer.disconnect());
}

const waiting: (() => Promise<void>)[] = [];
let running = 0;

/** A few at a time. A file that does not open keeps its icon. */
async function inTurn(run: () => Promise<void>): Promise<void> {
  waiting.push(run);
  if (running >= maxConcurrent) return;
  running += 1;
  for (let next = waiting.shift(); next; next = waiting.shift()) await next().catch(() => undefined);
  running -= 1;
}

async function createThumbnail(room: RoomOfFiles, file: SharedFile, signal: AbortSignal): Promise<string> {
  const { meta = '' } = file;
  const known = kept.get(meta);
  if (known) return known;
  const url = URL.createObjectURL(await scaled(await openMedia(room, file, signal)));
  kept.set(meta, url);
  const [oldest] = kept;
  if (oldest && kept.size > maxKept) {
    kept.delete(oldest[0]);
    URL.revokeObjectURL(oldest[1]);
  }
  return url;
}

/** The square in the middle, as the list shows it. */
async function scaled(image: Blob): Promise<Blob> {
  const bitmap = await createImageBitmap(image);
  const { width, height } = bitmap;
  const shorter = Math.min(width, height);
  const [x, y] = [(width - shorter) / 2, (height - shorter) / 2];
  const canvas = new OffscreenCanvas(side, side);
  canvas.getContext('2d')?.drawImage(bitmap, x, y, shorter, shorter, 0, 0, side, side);
  bitmap.close();
  return canvas.convertToBlob({ type: 'image/webp', quality: 0.8 });
}

/** Larger ones have to be saved. */
const maxMediaBytes = 256 * 1024 * 1024;

/** Types that no browser shows as a document, in which scripts would run on this origin. Not `…+xml`, for example. */
const safeTypes = /^(?:image\/(?:png|jpeg|gif|webp|avif|bmp)|(?:audio|video)\/[\w.-]+)$/;

/** Fails if the file is damaged, also at its end. */
async function openMedia(room: RoomOfFiles, file: SharedFile, signal: AbortSignal, onBytes = (_bytes: number) => {}) {
  const type = safeTypes.test(file.contentType) ? file.contentType : 'application/octet-stream';
  const { body } = await (await room.requests()).download(file, { signal });
  try {
    return body ? await collectBlob(body.pipeThrough(countBytes(onBytes)), type) : new Blob([]);
  } catch (error) {
    throw error instanceof PoproomError ? error : new PoproomError('OFFLINE', String(error));
  }
}
