/** Uploads a file, with progress. */
import type { FileUploaded } from '../protocol/types.ts';
import { isConfirmation, isFileUploaded } from './response-shapes.ts';
import { type FileLabels, noOneTimeFiles, type PartSource, uploadResumably } from './resumable-upload.ts';
import { type CallOptions, definedHeaders, parseBody, type Transport } from './transport.ts';
import { nameOf, openSource, readIntoBlob, type UploadSource } from './upload-source.ts';
import { sendWithXhr } from './upload-xhr.ts';

export interface UploadOptions extends CallOptions {
  /** File name. Required unless the source is a File or a path. */
  name?: string | undefined;
  /** Media type, such as `image/png`. Default: that of the Blob. */
  type?: string | undefined;
  /** The path of a folder, such as `photos/2026`, for lists and downloads. */
  folder?: string | undefined;
  /**
   * The size of a stream in bytes. In an encrypted room it must be known before the upload, so a stream without it is
   * read into memory first.
   */
  size?: number | undefined;
  /** Makes it a one-time file, which is erased after one receipt; see `room.receive()`. */
  once?: boolean | undefined;
  /** Called with the number of bytes that the server has. For a stream, the bytes read from it. */
  onProgress?: ((sent: number) => void) | undefined;
  /** Continues an earlier upload of the same file, if the server still has it. */
  uploadId?: string | undefined;
  /** Called with the id of a resumable upload. Keep it to continue the upload after a restart of the program. */
  onUploadId?: ((uploadId: string) => void) | undefined;
}

/** The room to upload to. */
export interface UploadTarget {
  transport: Transport;
  /** The path of the room. */
  path: string;
  /** The PIN or key, and the device. */
  headers: Readonly<Record<string, string | undefined>>;
}

/** A file whose bytes can be read once, and by parts if it can be continued. */
export interface OutgoingFile {
  parts: PartSource | undefined;
  whole(): Blob | ReadableStream<Uint8Array> | Promise<Blob>;
  labels: FileLabels;
}

export type TransferOptions = Pick<UploadOptions, 'once' | 'onProgress' | 'uploadId' | 'onUploadId' | 'signal'>;

/** Larger files are sent in parts that can be resumed. In one request, only browsers report progress. */
const resumableFrom = 5 * 1024 * 1024;

export async function upload(
  target: UploadTarget,
  source: UploadSource,
  { name = nameOf(source), ...options }: UploadOptions,
): Promise<FileUploaded> {
  if (!name) throw missingName();
  const opened = await openSource(source);
  const type = options.type || (opened instanceof Blob && opened.type) || 'application/octet-stream';
  // Browsers cannot send a stream.
  const bytes = opened instanceof Blob || !hasXhr() ? opened : await readIntoBlob(opened, options.signal);
  const labels = { name, type, folder: options.folder };
  const parts = bytes instanceof Blob ? bytes : undefined;
  return transfer(target, { parts, whole: () => bytes, labels }, options);
}

export const missingName = () => new TypeError('A file needs a name: set `name` in the options.');

/** Sends a file by parts or in one request. */
export async function transfer(
  target: UploadTarget,
  file: OutgoingFile,
  options: TransferOptions,
): Promise<FileUploaded> {
  const { once = false } = options;
  if (file.parts && isResumable(file.parts, options)) {
    const resumable = { bytes: file.parts, once, ...file.labels };
    const uploaded = await uploadResumably(target, resumable, options);
    if (uploaded) return uploaded;
  }
  const uploaded = withId(await uploadWhole(target, await file.whole(), file.labels, options));
  if (once && !uploaded.once) await undoUpload(target, uploaded);
  return uploaded;
}

type UploadAnswer = Omit<FileUploaded, 'fileId'> & { fileId?: string };

function withId({ fileId, ...uploaded }: UploadAnswer): FileUploaded {
  return { ...uploaded, fileId: fileId ?? /[0-9a-f]{32}/.exec(uploaded.fileUrl)?.[0] ?? '' };
}

/** An older server has stored the file as an ordinary one, which everyone in the room can read. */
async function undoUpload({ transport, path, headers }: UploadTarget, { fileId }: FileUploaded): Promise<never> {
  await transport.call(`${path}/files/${encodeURIComponent(fileId)}`, isConfirmation, { method: 'DELETE', headers });
  throw noOneTimeFiles();
}

export const hasXhr = () => 'XMLHttpRequest' in globalThis;

/** Outside browsers, a single request would report what was read and not what was sent. */
const isResumable = ({ size }: PartSource, { onProgress }: TransferOptions) =>
  size > resumableFrom || (onProgress !== undefined && !hasXhr());

/** In one request. */
function uploadWhole(
  { transport, path, ...target }: UploadTarget,
  bytes: Blob | ReadableStream<Uint8Array>,
  labels: FileLabels,
  { once, onProgress, signal }: TransferOptions,
): Promise<UploadAnswer> {
  const folder = 'meta' in labels ? undefined : labels.folder;
  const query = new URLSearchParams({ ...(folder && { folder }), ...(once && { once: 'true' }) });
  const url = `${path}/upload${query.size > 0 ? `?${query}` : ''}`;
  const headers = definedHeaders({ ...labelHeaders(labels), ...target.headers, ...transport.newIdempotencyKey() });
  // In browsers, fetch does not report upload progress.
  if (!hasXhr() || bytes instanceof ReadableStream)
    return transport.call(url, isFileUploaded, { method: 'POST', body: bytes, headers, onProgress, signal });
  const request = { method: 'POST', path: url, body: bytes, headers, onProgress, signal };
  const attempt = () => sendWithXhr(transport, request, ({ status, text }) => parseBody(status, text, isFileUploaded));
  return transport.withRetry(attempt, { method: 'POST', headers, signal });
}

function labelHeaders(labels: FileLabels): Record<string, string> {
  if ('meta' in labels) return { 'Content-Type': 'application/octet-stream', 'X-File-Meta': labels.meta };
  return { 'Content-Type': labels.type, 'X-File-Name': encodeURIComponent(labels.name.toWellFormed()) };
}
