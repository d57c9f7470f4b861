/** Uploads a file, with progress: opens its source, and sends it by parts or in one request. */
import type { FileUploaded } from '../protocol/types.ts';
import { PoproomError } from './error.ts';
import { isConfirmation, isFileUploaded } from './response-checks.ts';
import {
  type FileLabels,
  hasXhr,
  noOneTimeFiles,
  type PartSource,
  type ResumableOptions,
  sendWithXhr,
  temporary,
  type UploadTarget,
  uploadResumably,
} from './resumable-upload.ts';
import { type CallOptions, definedHeaders } from './transport.ts';

/** A string is the path of a file, and works only where there is a file system. */
export type UploadSource =
  | Blob
  | ArrayBuffer
  | ArrayBufferView
  | ReadableStream<Uint8Array>
  | AsyncIterable<Uint8Array>
  | string;

export type OnProgress = (bytes: number, total: number | undefined) => void;

export interface UploadOptions extends CallOptions {
  /** File name. Required unless the source is a File or a path. */
  name?: string | undefined;
  /** Media type, such as `image/png`. Default: that of the Blob, or of the extension of the name. */
  type?: string | undefined;
  /** The path of a folder, such as `photos/2026`, for lists and downloads. */
  folder?: string | undefined;
  /**
   * The size of a stream in bytes, for `onProgress`. In an encrypted room it must be known before the upload, so a stream
   * without it is read into memory first.
   */
  size?: number | undefined;
  /** Makes it a one-time file, which is erased after one receipt; see `room.receive()`. */
  once?: boolean | undefined;
  /**
   * Called with the number of bytes that the server has, or of a stream, the bytes read from it. The total is undefined
   * for a stream without `size`.
   */
  onProgress?: OnProgress | undefined;
  /**
   * Continues an earlier upload of the same file, if the server still has it. In an encrypted room, an upload starts again
   * if the file, its name, type or folder has changed.
   */
  uploadId?: string | undefined;
  /**
   * Called with the id of a resumable upload. Keep it to continue the upload after a restart of the program. In an
   * encrypted room it contains the salt of the file in sealed form, and is also that of an upload in one request.
   */
  onUploadId?: ((uploadId: string) => void) | undefined;
  /** From `room.uploadTicket()`: the upload then does not count as a request. `room.uploadAll()` does this automatically. */
  ticket?: string | undefined;
}

/** A file with its options, for `room.uploadAll()`. */
export interface FileToUpload extends UploadOptions {
  source: UploadSource;
}

export interface UploadAllOptions extends CallOptions {
  /** Called when a file is in the room, with its position in the list. */
  onUploaded?: ((file: FileUploaded, index: number) => void) | undefined;
}

/** Lets uploads that were announced together count as one request. */
export interface UploadTicket {
  readonly ticket: string;
  /** How many uploads it is for: at most as many as a room can have files. */
  readonly uploads: number;
  /** ISO 8601 timestamp: an hour after it was issued. */
  readonly expiresAt: string;
}

/** A file whose bytes can be read once, and by parts if it can be continued. */
interface OutgoingFile {
  parts: PartSource | undefined;
  /** The bytes of the upload that is continued, if they differ from `parts`. */
  continued?: PartSource | undefined;
  /** Those of `parts`. */
  labels: FileLabels;
  whole(): WholeFile | Promise<WholeFile>;
}

interface WholeFile {
  bytes: Blob | ReadableStream<Uint8Array>;
  /** The number of bytes, if it is known for a stream. */
  size?: number | undefined;
  labels: FileLabels;
}

type TransferOptions = ResumableOptions & Pick<UploadOptions, 'once' | 'ticket'>;

/** Larger files are sent in parts that can be resumed. In one request, only browsers report progress. */
const resumableFrom = 5 * 1024 * 1024;

export async function upload(
  target: UploadTarget,
  source: UploadSource,
  { name = nameOf(source), onProgress, ...options }: UploadOptions,
): Promise<FileUploaded> {
  if (!name) throw missingName();
  const opened = await openSource(source);
  const type = options.type || (opened instanceof Blob && opened.type) || typeByName(name);
  // Browsers cannot send a stream.
  const bytes = opened instanceof Blob || !hasXhr() ? opened : await readIntoBlob(opened, options.signal);
  const labels = { name, type, folder: options.folder };
  const parts = bytes instanceof Blob ? bytes : undefined;
  const report = onProgress && ((sent: number) => onProgress(sent, parts?.size ?? options.size));
  return transfer(target, { parts, labels, whole: () => ({ bytes, labels }) }, { ...options, onProgress: report });
}

/** The methods of a room that upload several files. */
interface UploadingRoom {
  upload(source: UploadSource, options?: UploadOptions): Promise<FileUploaded>;
  uploadTicket(uploads: number, options?: CallOptions): Promise<UploadTicket>;
}

/** Uploads files one after another, in their order. */
export async function uploadAll(
  room: UploadingRoom,
  files: Iterable<UploadSource | FileToUpload>,
  { onUploaded, ...options }: UploadAllOptions = {},
): Promise<FileUploaded[]> {
  const list = Array.from(files, toFile);
  const nextTicket = announceUploads(room, list.length);
  const uploaded: FileUploaded[] = [];
  for (const { source, ...own } of list) {
    const file = await room.upload(source, { ticket: await nextTicket(options), ...options, ...own });
    uploaded.push(file);
    onUploaded?.(file, uploaded.length - 1);
  }
  return uploaded;
}

const toFile = (file: UploadSource | FileToUpload): FileToUpload =>
  typeof file === 'object' && 'source' in file ? file : { source: file };

/** The server accepts a ticket for an hour. */
const renewAfterMs = 55 * 60_000;

/** The ticket for each of several uploads; undefined for a single one, and if the server issues none. */
export function announceUploads({ uploadTicket }: Pick<UploadingRoom, 'uploadTicket'>, count: number) {
  let issued: Promise<UploadTicket | undefined> | undefined;
  let issuedAt = 0;
  let left = count;

  async function request(options: CallOptions | undefined): Promise<UploadTicket | undefined> {
    issuedAt = Date.now();
    try {
      return await uploadTicket(left, options);
    } catch (error) {
      // A server that does not know these tickets is not asked again.
      if (error instanceof PoproomError && temporary.includes(error.code)) issued = undefined;
      return undefined;
    }
  }

  return async (options?: CallOptions) => {
    const isValid = issued && Date.now() - issuedAt < renewAfterMs;
    if (!isValid) issued = left > 1 ? request(options) : undefined;
    left -= 1;
    return (await issued)?.ticket;
  };
}

export const missingName = () => new TypeError('A file needs a name: set `name` in the options.');

/** Sends a file by parts or in one request. */
export async function transfer({ headers, ...room }: UploadTarget, file: OutgoingFile, options: TransferOptions) {
  const { once = false, ticket } = options;
  const target = { ...room, headers: { ...headers, 'X-Upload-Ticket': ticket } };
  if (file.parts && isResumable(file.parts, options)) {
    const resumable = { bytes: file.parts, continued: file.continued, once, ...file.labels };
    const uploaded = await uploadResumably(target, resumable, options);
    if (uploaded) return uploaded;
  }
  const { fileId, ...answer } = await uploadWhole(target, await file.whole(), options);
  const uploaded = { ...answer, fileId: fileId ?? /[0-9a-f]{32}/.exec(answer.fileUrl)?.[0] ?? '' };
  if (once && !uploaded.once) await undoUpload(target, uploaded);
  return uploaded;
}

/** An older server has stored the file as an ordinary one, which everyone in the room can read. */
async function undoUpload({ transport, path, headers }: UploadTarget, { fileId }: FileUploaded): Promise<never> {
  await transport.call(`${path}/files/${encodeURIComponent(fileId)}`, isConfirmation, { method: 'DELETE', headers });
  throw noOneTimeFiles();
}

/** Outside browsers, a single request would report what was read and not what was sent. */
const isResumable = ({ size }: PartSource, { onProgress }: TransferOptions) =>
  size > resumableFrom || (onProgress !== undefined && !hasXhr());

/** In one request. */
function uploadWhole(
  { transport, path, ...target }: UploadTarget,
  { bytes, size, labels }: WholeFile,
  { once, onProgress, signal, timeoutSeconds }: TransferOptions,
): Promise<Omit<FileUploaded, 'fileId'> & { fileId?: string }> {
  const folder = 'meta' in labels ? undefined : labels.folder;
  const query = new URLSearchParams({ ...(folder && { folder }), ...(once && { once: 'true' }) });
  const url = `${path}/upload${query.size > 0 ? `?${query}` : ''}`;
  const headers = definedHeaders({
    ...labelHeaders(labels),
    ...target.headers,
    ...transport.newIdempotencyKey(),
    'Content-Length': bytes instanceof ReadableStream && size !== undefined ? String(size) : undefined,
  });
  const call = { method: 'POST', body: bytes, headers, onProgress, signal, timeoutSeconds };
  return transport.call(url, isFileUploaded, hasXhr() ? { ...call, sendBody: sendWithXhr } : call);
}

function labelHeaders(labels: FileLabels): Record<string, string> {
  if ('meta' in labels) return { 'Content-Type': 'application/octet-stream', 'X-File-Meta': labels.meta };
  return { 'Content-Type': labels.type, 'X-File-Name': encodeURIComponent(labels.name.toWellFormed()) };
}

/** Uses the file system only for a path, because browsers have none. */
export async function openSource(source: UploadSource): Promise<Blob | ReadableStream<Uint8Array>> {
  if (typeof source === 'string') return openFile(source);
  if (source instanceof Blob || source instanceof ReadableStream) return source;
  if (Symbol.asyncIterator in source) return streamOf(source);
  return new Blob([source as Uint8Array<ArrayBuffer>]);
}

export function nameOf(source: UploadSource): string | undefined {
  if (typeof source === 'string') return source.split(/[/\\]/).at(-1);
  return source instanceof Blob && 'name' in source ? String(source.name) : undefined;
}

/** Differs when a file has changed on the disk, as far as its source knows that. */
export function versionOf(source: UploadSource): string {
  if (typeof source !== 'string') return 'lastModified' in source ? String(source.lastModified) : '';
  const { size, mtimeMs, ctimeMs } = fileSystem().statSync(source);
  return `${size}/${mtimeMs}/${ctimeMs}`;
}

/** Reads the whole stream, for browsers that cannot send one. */
export function readIntoBlob(source: ReadableStream<Uint8Array>, signal: AbortSignal | undefined): Promise<Blob> {
  const stream = source.pipeThrough(new TransformStream<Uint8Array, Uint8Array>(), signal && { signal });
  const blob = new Response(stream).blob();
  // Chrome reports another error than that of the stream.
  return blob.catch((error) => Promise.reject(signal?.aborted ? signal.reason : error));
}

/** Node 26 truncates the size of a larger Blob, so that only a part of the file would be uploaded. */
const maxBlobBytes = 2 ** 32;

async function openFile(path: string): Promise<Blob> {
  const fs = fileSystem();
  const blob = await fs.openAsBlob(path);
  if (fs.statSync(path).size >= maxBlobBytes) throw new TypeError('A path can name a file of up to 4 GiB.');
  return blob;
}

interface FileSystem {
  openAsBlob(path: string): Promise<Blob>;
  statSync(path: string): { size: number; mtimeMs: number; ctimeMs: number };
}

function fileSystem(): FileSystem {
  const { process } = globalThis as { process?: { getBuiltinModule?(name: 'node:fs'): FileSystem } };
  const fs = process?.getBuiltinModule?.('node:fs');
  if (!fs) throw new TypeError('There is no file system here: pass a File or Blob instead of a path.');
  return fs;
}

function streamOf(source: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const iterator = source[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await iterator.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: async () => void (await iterator.return?.()),
  });
}

/** Common ones: after each subtype, the extensions of file names. */
const mediaTypes: Readonly<Record<string, string>> = {
  text: `plain txt log ini conf, markdown md markdown, html html htm, css css, csv csv, calendar ics, vcard vcf,
    javascript js mjs`,
  application: `json json map, xml xml, yaml yaml yml, pdf pdf, rtf rtf, epub+zip epub, zip zip, gzip gz tgz,
    x-tar tar, x-7z-compressed 7z, vnd.rar rar, x-bzip2 bz2, wasm wasm, sql sql, msword doc, vnd.ms-excel xls,
    vnd.ms-powerpoint ppt, vnd.openxmlformats-officedocument.wordprocessingml.document docx,
    vnd.openxmlformats-officedocument.spreadsheetml.sheet xlsx,
    vnd.openxmlformats-officedocument.presentationml.presentation pptx, vnd.oasis.opendocument.text odt,
    vnd.oasis.opendocument.spreadsheet ods, vnd.oasis.opendocument.presentation odp, vnd.android.package-archive apk`,
  image: `png png, jpeg jpg jpeg, gif gif, webp webp, avif avif, heic heic, heif heif, svg+xml svg, bmp bmp,
    tiff tif tiff, vnd.microsoft.icon ico`,
  audio: 'mpeg mp3, mp4 m4a, aac aac, ogg oga ogg opus, flac flac, wav wav, midi mid midi',
  video: 'mp4 mp4 m4v, webm webm, quicktime mov, x-matroska mkv, x-msvideo avi, mpeg mpg mpeg, ogg ogv',
  font: 'ttf ttf, otf otf, woff woff, woff2 woff2',
};

let byExtension: ReadonlyMap<string, string> | undefined;

/** `application/octet-stream` if the name has no known extension. */
export function typeByName(name: string): string {
  byExtension ??= new Map(Object.entries(mediaTypes).flatMap(entriesOf));
  const [, extension = ''] = /\.([^.]+)$/.exec(name) ?? [];
  return byExtension.get(extension.toLowerCase()) ?? 'application/octet-stream';
}

const entriesOf = ([type, subtypes]: [string, string]): [extension: string, type: string][] =>
  subtypes.split(/,\s+/).flatMap((line) => {
    const [subtype, ...extensions] = line.split(' ');
    return extensions.map((extension): [string, string] => [extension, `${type}/${subtype}`]);
  });
