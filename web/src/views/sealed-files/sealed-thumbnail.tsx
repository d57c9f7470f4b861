/** A thumbnail of an encrypted image: decrypted when it is first visible, and kept small. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { RoomModel } from '../../room/room.ts';
import type { SharedFile } from '../../room/room-phase.ts';
import { Thumbnail } from '../files/thumbnail.tsx';
import { openMedia } from './media.ts';

interface Props {
  room: RoomModel;
  file: SharedFile;
}

/** Larger images show an icon in the list. */
const maxBytes = 16 * 1024 * 1024;
const maxKept = 200;
const maxConcurrent = 2;
/** In pixels, for a screen of high density. */
const side = 144;

/** The URLs of thumbnails, by the metadata of the file: the server chooses its URL. The list and the selection show the same. */
const kept = new Map<string, string>();

export function SealedThumbnail({ room, file }: Props) {
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
function inTurn(run: () => Promise<void>): void {
  waiting.push(run);
  void runNext();
}

async function runNext(): Promise<void> {
  if (running >= maxConcurrent) return;
  const run = waiting.shift();
  if (!run) return;
  running += 1;
  await run().catch(() => undefined);
  running -= 1;
  void runNext();
}

async function createThumbnail(room: RoomModel, file: SharedFile, signal: AbortSignal): Promise<string> {
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
  return canvas.convertToBlob({ type: 'image/png' });
}
