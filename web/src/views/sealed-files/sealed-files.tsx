/** The files of an encrypted room: their downloads, and images, sounds and videos in the viewer. */
import { signal, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { PoproomError } from '../../../../src/client/error.ts';
import { localPaths } from '../../../../src/core/files/local-name.ts';
import { planZip, zipChunks } from '../../../../src/zip/format.ts';
import { IconButton } from '../../components/controls.tsx';
import { t } from '../../i18n/all-strings.ts';
import { errorMessage, percent, size } from '../../i18n/strings.ts';
import { forwardedTo } from '../../page-settings.ts';
import type { RoomOfFiles, SharedFile } from '../../room/room-phase.ts';
import { noteFailure } from '../../server-connection.ts';
import {
  chooseTarget,
  collectBlob,
  countBytes,
  createSaving,
  type FileTarget,
  memoryTarget,
  type SaveMachine,
  SaveProgress,
  type SaveState,
  shareOf,
  startDownload,
} from '../files/save-file.tsx';
import { Thumbnail } from '../files/thumbnail.tsx';
import '../../style/uploads.css';

export function SealedDownloads() {
  useEffect(() => {
    removeOld().catch(() => undefined);
    // The user leaves the room.
    return () => {
      for (const { send } of downloads.peek()) send({ type: 'close' });
      for (const url of kept.values()) URL.revokeObjectURL(url);
      kept.clear();
    };
  }, []);
  return downloads.value.map((download) => <DownloadRow key={download} download={download} />);
}

function DownloadRow({ download: { source, state, send } }: { download: Download }) {
  const { name, type } = source;
  const { value } = state;
  const closeTitle = t(value.name === 'failed' ? 'close' : 'cancel');
  const retry = () => send({ type: 'choose' });
  const close = () => send({ type: 'close' });
  return (
    <li class="file upload" data-state={value.name}>
      <Thumbnail url="" name={name} type={type} />
      <div class="file-info">
        <span dir="auto">{name}</span>
        <small role={value.name === 'failed' ? 'alert' : undefined}>{detail(source.size, value)}</small>
        {value.name === 'saving' && <SaveProgress name={name} size={source.size} bytes={value.bytes} />}
      </div>
      <div class="file-actions">
        {value.name === 'failed' && (
          <IconButton icon="retry" label={`${t('tryAgain')}: ${name}`} title={t('tryAgain')} onClick={retry} />
        )}
        <IconButton icon="close" label={t('cancelDownload', { name })} title={closeTitle} onClick={close} />
      </div>
    </li>
  );
}

function detail(total: number, state: SaveState): string {
  if (state.name === 'failed') return state.message;
  if (state.name !== 'saving') return size(total);
  const share = percent(shareOf(total, state.bytes));
  return `${t('decrypting')} ${t('uploadProgress', { percent: share, size: size(total) })}`;
}

type Download = SaveMachine & { readonly source: DownloadSource };

/** Downloads in progress, and failed ones. */
const downloads = signal<readonly Download[]>([]);

/** Call it after a click, or the browser does not ask where to save a large file. */
export function saveFiles(room: RoomOfFiles, files: readonly SharedFile[]): void {
  const [first, second] = files;
  if (first) add(second ? archiveOf(room, files) : sourceOf(room, first));
}

const sourceOf = (room: RoomOfFiles, file: SharedFile): DownloadSource => ({
  name: file.fileName,
  type: file.contentType,
  size: file.fileSize,
  open: (signal) => openFile(room, file, signal),
});

async function openFile(room: RoomOfFiles, file: SharedFile, signal: AbortSignal) {
  const { body } = await (await room.requests()).download(file, { signal });
  return body ?? new Blob([]).stream();
}

function add(source: DownloadSource): void {
  const machine = createSaving({
    chooseTarget: () => chooseSealedTarget(source),
    failureMessage,
    async save(target, signal, counter) {
      const body = await source.open(signal);
      return { isConfirmed: true, blobUrl: await target.save(body.pipeThrough(counter)) };
    },
  });
  const download = { source, ...machine };
  downloads.value = [...downloads.value, download];
  machine.send({ type: 'choose' });
  machine.state.subscribe(({ name }) => {
    // The file is saved, or the user has not chosen a place for it.
    if (name === 'saved' || name === 'asking') machine.send({ type: 'close' });
    if (name === 'closed') downloads.value = downloads.value.filter((other) => other !== download);
  });
}

function failureMessage(error: unknown): string {
  if (error instanceof DOMException) return t('saveFailed');
  // All others are those of a connection that was lost.
  if (!(error instanceof PoproomError)) return errorMessage(new PoproomError('OFFLINE', String(error)));
  const { code, details } = noteFailure(error);
  if (code !== 'DATA_DAMAGED') return errorMessage(error);
  const { fileName: name } = details;
  const message = name === undefined ? errorMessage(error) : t('fileInArchiveDamaged', { name: String(name) });
  return `${message} ${t('nothingSaved')}`;
}

/** A file, or an archive of several. */
interface DownloadSource {
  readonly name: string;
  /** The media type, for the icon. */
  readonly type: string;
  readonly size: number;
  /** The decrypted bytes. Reading them fails if they are damaged. */
  open(signal: AbortSignal): Promise<ReadableStream<Uint8Array<ArrayBuffer>>>;
}

/** A zip archive of encrypted files, made while it is saved: the server cannot read them. */
function archiveOf(room: RoomOfFiles, files: readonly SharedFile[]): DownloadSource {
  // Windows has the strictest rules for names.
  const paths = localPaths(files, 'win32');
  const plan = planZip(
    files.map((file, i) => ({
      file,
      path: paths[i]?.join('/') ?? file.fileId,
      size: file.fileSize,
      modifiedAt: Date.parse(file.uploadedAt),
    })),
  );
  const open = async (signal: AbortSignal) =>
    streamOf(zipChunks(plan, async ({ file }) => chunksOf(room, file, signal), crc32));
  return { name: `poproom-${room.code}.zip`, type: 'application/zip', size: plan.length, open };
}

/** The error of a damaged file names it. */
async function* chunksOf(room: RoomOfFiles, file: SharedFile, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    const reader = (await openFile(room, file, signal)).getReader();
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } catch (error) {
    if (!(error instanceof PoproomError)) throw error;
    const { code, message, details } = error;
    throw new PoproomError(code, message, { details: { ...details, fileName: file.fileName } });
  }
}

/** Not all browsers have `ReadableStream.from`. */
function streamOf(chunks: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(value as Uint8Array<ArrayBuffer>);
    },
    cancel: async () => void (await chunks.return(undefined)),
  });
}

const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

/** Continues the checksum of the bytes before. */
function crc32(bytes: Uint8Array, before: number): number {
  let crc = ~before;
  for (const byte of bytes) crc = (crc >>> 8) ^ (table[(crc ^ byte) & 255] as number);
  return ~crc >>> 0;
}

/** Smaller files are decrypted in memory, so that a click is enough. */
const smallBytes = 64 * 1024 * 1024;
/** A browser that cannot write to the disk may fail on larger ones. */
const maxMemoryBytes = 512 * 1024 * 1024;

async function chooseSealedTarget({ name, size: bytes }: DownloadSource): Promise<FileTarget | string | undefined> {
  if (bytes <= smallBytes) return memoryTarget(name);
  if ('showSaveFilePicker' in window) return chooseTarget(name);
  if (hasPrivateFiles()) return privateTarget(name);
  return bytes <= maxMemoryBytes ? memoryTarget(name) : t('tooLargeToSave', { size: size(maxMemoryBytes) });
}

const folderName = 'decrypted';
/** The browser copies the file to its downloads in this time. */
const keptMs = 60 * 60 * 1000;

/** Only in secure contexts, and not in all browsers. The browser keeps nothing of the page of `poproom ui`. */
const hasPrivateFiles = () =>
  !forwardedTo &&
  typeof navigator.storage?.getDirectory === 'function' &&
  'createWritable' in (globalThis.FileSystemFileHandle?.prototype ?? {});

/** Decrypts into the private files of this origin, from where the browser downloads the file. */
function privateTarget(name: string): FileTarget {
  const entry = `${Date.now()}-${Math.random()}`;
  const remove = async () => (await folder()).removeEntry(entry).catch(() => undefined);
  return {
    async save(body) {
      await removeOld();
      const handle = await (await folder()).getFileHandle(entry, { create: true });
      await body.pipeTo(await handle.createWritable());
      const file = new Blob([await handle.getFile()], { type: 'application/octet-stream' });
      startDownload(URL.createObjectURL(file), name);
      setTimeout(remove, keptMs);
      // Not revoked: the browser may need long to copy it.
      return undefined;
    },
    discard: remove,
  };
}

const folder = async () => (await navigator.storage.getDirectory()).getDirectoryHandle(folderName, { create: true });

/** Removes files that a closed page has left. */
async function removeOld(): Promise<void> {
  if (!hasPrivateFiles()) return;
  const root = await navigator.storage.getDirectory();
  const old = await root.getDirectoryHandle(folderName).catch(() => undefined);
  if (!old) return;
  for await (const name of old.keys())
    if (Date.now() - Number.parseInt(name, 10) > keptMs) await old.removeEntry(name).catch(() => undefined);
}

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
  const body = await openFile(room, file, signal);
  try {
    return await collectBlob(body.pipeThrough(countBytes(onBytes)), type);
  } catch (error) {
    throw error instanceof PoproomError ? error : new PoproomError('OFFLINE', String(error));
  }
}
