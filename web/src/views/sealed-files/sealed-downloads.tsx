/** The downloads of encrypted files: their progress, their errors, and buttons to retry or cancel them. */
import { useEffect } from 'preact/hooks';
import { IconButton } from '../../components/controls.tsx';
import { listen } from '../../components/listen.ts';
import { t } from '../../i18n/all-strings.ts';
import { percent, size } from '../../i18n/quantities.ts';
import { Thumbnail } from '../files/thumbnail.tsx';
import { forgetThumbnails } from './sealed-media.tsx';
import '../../style/uploads.css';
import { signal } from '@preact/signals';
import { PoproomError } from '../../../../src/client/error.ts';
import { localPaths } from '../../../../src/core/files/local-name.ts';
import { planZip, zipChunks } from '../../../../src/zip/format.ts';
import { errorMessage } from '../../i18n/error-message.ts';
import { forwardedTo } from '../../page-settings.ts';
import { noteFailure } from '../../room/request-limit.ts';
import type { RoomOfFiles, SharedFile } from '../../room/room-phase.ts';
import { createStateMachine, type StateMachine, type Transitions } from '../../room/state-machine.ts';
import { chooseTarget, countBytes, type FileTarget, memoryTarget, startDownload } from '../files/save-file.ts';

export function SealedDownloads() {
  useEffect(() => {
    removeOld().catch(() => undefined);
    // The user leaves the room.
    return () => {
      for (const { send } of downloads.peek()) send({ type: 'close' });
      forgetThumbnails();
    };
  }, []);
  return downloads.value.map((download) => <DownloadRow key={download} download={download} />);
}

function DownloadRow({ download }: { download: Download }) {
  const { source, state, send } = download;
  const { name, type } = source;
  const { value } = state;
  const closeTitle = t(value.name === 'failed' ? 'close' : 'cancel');
  const retry = () => send({ type: 'retry' });
  const close = () => send({ type: 'close' });
  return (
    <li class="file upload" data-state={value.name}>
      <Thumbnail url="" name={name} type={type} />
      <div class="file-info">
        <span dir="auto">{name}</span>
        <small role={value.name === 'failed' ? 'alert' : undefined}>{detail(source.size, value)}</small>
        {value.name === 'saving' && <Progress download={download} bytes={value.bytes} />}
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

function Progress({ download: { source }, bytes }: { download: Download; bytes: number }) {
  useEffect(() => listen('beforeunload', (event) => event.preventDefault()), []);
  return <progress max={1} value={shareOf(source.size, bytes)} aria-label={source.name} />;
}

function detail(total: number, state: DownloadState): string {
  if (state.name === 'failed') return state.message;
  if (state.name !== 'saving') return size(total);
  const share = percent(shareOf(total, state.bytes));
  return `${t('decrypting')} ${t('uploadProgress', { percent: share, size: size(total) })}`;
}

const shareOf = (total: number, bytes: number): number => (total === 0 ? 1 : Math.min(1, bytes / total));

type Download = StateMachine<DownloadState, DownloadEvent> & { readonly source: DownloadSource };

/** Downloads in progress, and failed ones. */
const downloads = signal<readonly Download[]>([]);

/** The browser may not have read the file yet. */
const revokeAfterMs = 60_000;

/** Call it after a click, or the browser does not ask where to save a large file. */
export function saveFiles(room: RoomOfFiles, files: readonly SharedFile[]): void {
  const [first, second] = files;
  if (first) add(second ? archiveOf(room, files) : fileSource(room, first));
}

function fileSource(room: RoomOfFiles, file: SharedFile): DownloadSource {
  return {
    name: file.fileName,
    type: file.contentType,
    size: file.fileSize,
    async open(signal) {
      const { body } = await (await room.requests()).download(file, { signal });
      return body ?? new Blob([]).stream();
    },
  };
}

function add(source: DownloadSource): void {
  const machine = createStateMachine(downloadTransitions, { name: 'choosing' }, onTransition);
  const download = { source, ...machine };
  downloads.value = [...downloads.value, download];
  void choose();

  function onTransition(before: DownloadState, after: DownloadState): void {
    if (before.name === after.name) return;
    if (before.name === 'saving') before.aborter.abort();
    if (after.name === 'choosing') void choose();
    if (after.name === 'saving') void save(source, after.target, after.aborter.signal, machine.send);
    if (after.name === 'closed') downloads.value = downloads.value.filter((other) => other !== download);
  }

  async function choose(): Promise<void> {
    const target = await chooseSealedTarget(source);
    if (target === 'too-large')
      return machine.send({ type: 'fail', message: t('tooLargeToSave', { size: size(maxMemoryBytes) }) });
    machine.send(target ? { type: 'start', target, aborter: new AbortController() } : { type: 'close' });
  }
}

async function save(source: DownloadSource, target: FileTarget, signal: AbortSignal, send: Download['send']) {
  const onBytes = (bytes: number) => send({ type: 'progress', bytes });
  try {
    const { blobUrl } = await target.save((await source.open(signal)).pipeThrough(countBytes(onBytes)));
    if (blobUrl) setTimeout(() => URL.revokeObjectURL(blobUrl), revokeAfterMs);
    send({ type: 'close' });
  } catch (error) {
    await target.discard();
    if (!signal.aborted) send({ type: 'fail', message: failureMessage(error) });
  }
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
  /** In bytes. */
  readonly size: number;
  /** The decrypted bytes. Reading them fails if they are damaged. */
  open(signal: AbortSignal): Promise<ReadableStream<Uint8Array<ArrayBuffer>>>;
}

type DownloadState =
  /** Where to save the file: the browser may ask. */
  | { readonly name: 'choosing' }
  /** `aborter` stops the download. */
  | { readonly name: 'saving'; readonly target: FileTarget; readonly aborter: AbortController; readonly bytes: number }
  /** Nothing was saved. */
  | { readonly name: 'failed'; readonly message: string }
  /** Saved, cancelled or dismissed. */
  | { readonly name: 'closed' };

type DownloadEvent =
  | { type: 'start'; target: FileTarget; aborter: AbortController }
  | { type: 'progress'; bytes: number }
  | { type: 'fail'; message: string }
  | { type: 'retry' }
  | { type: 'close' };

/** The states of saving encrypted files, and how events change them. */
const fail = (_: DownloadState, { message }: { message: string }): DownloadState => ({ name: 'failed', message });
const close = (): DownloadState => ({ name: 'closed' });

const downloadTransitions: Transitions<DownloadState, DownloadEvent> = {
  choosing: { start: (_, { target, aborter }) => ({ name: 'saving', target, aborter, bytes: 0 }), fail, close },
  saving: { progress: (state, { bytes }) => ({ ...state, bytes }), fail, close },
  failed: { retry: () => ({ name: 'choosing' }), close },
  closed: {},
};

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
    const { body } = await (await room.requests()).download(file, { signal });
    const reader = body?.getReader();
    for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) yield next.value;
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
export function crc32(bytes: Uint8Array, before: number): number {
  let crc = ~before;
  for (const byte of bytes) crc = (crc >>> 8) ^ (table[(crc ^ byte) & 255] as number);
  return ~crc >>> 0;
}

/** Smaller files are decrypted in memory, so that a click is enough. */
const smallBytes = 64 * 1024 * 1024;
/** A browser that cannot write to the disk may fail on larger ones. */
const maxMemoryBytes = 512 * 1024 * 1024;

/** Undefined if the user cancels. */
async function chooseSealedTarget({ name, size }: DownloadSource): Promise<FileTarget | 'too-large' | undefined> {
  if (size <= smallBytes) return memoryTarget(name);
  if ('showSaveFilePicker' in window) return chooseTarget(name);
  if (hasPrivateFiles()) return privateTarget(name);
  return size <= maxMemoryBytes ? memoryTarget(name) : 'too-large';
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
      return { blobUrl: undefined };
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
