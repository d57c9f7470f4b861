/** Uploads a file, with progress. */
import type { FileUploaded } from '../protocol/types.ts';
import { isConfirmation, isFileUploaded } from './response-shapes.ts';
import { type FileLabels, noOneTimeFiles, type PartSource, uploadResumably } from './resumable-upload.ts';
import { type CallOptions, definedHeaders, parseBody, type Transport } from './transport.ts';
import { typeByName } from './type-by-name.ts';
import { nameOf, openSource, readIntoBlob, type UploadSource } from './upload-source.ts';
import { sendWithXhr } from './upload-xhr.ts';

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

export interface TransferOptions
  extends Pick<UploadOptions, 'once' | 'uploadId' | 'onUploadId' | 'signal' | 'timeoutSeconds'> {
  onProgress?: ((sent: number) => void) | undefined;
}

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

export const missingName = () => new TypeError('A file needs a name: set `name` in the options.');

/** Sends a file by parts or in one request. */
export async function transfer(
  target: UploadTarget,
  file: OutgoingFile,
  options: TransferOptions,
): Promise<FileUploaded> {
  const { once = false } = options;
  if (file.parts && isResumable(file.parts, options)) {
    const resumable = { bytes: file.parts, continued: file.continued, once, ...file.labels };
    const uploaded = await uploadResumably(target, resumable, options);
    if (uploaded) return uploaded;
  }
  const uploaded = withId(await uploadWhole(target, await file.whole(), options));
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
  { bytes, size, labels }: WholeFile,
  { once, onProgress, signal, timeoutSeconds }: TransferOptions,
): Promise<UploadAnswer> {
  const folder = 'meta' in labels ? undefined : labels.folder;
  const query = new URLSearchParams({ ...(folder && { folder }), ...(once && { once: 'true' }) });
  const url = `${path}/upload${query.size > 0 ? `?${query}` : ''}`;
  const headers = definedHeaders({
    ...labelHeaders(labels),
    ...target.headers,
    ...transport.newIdempotencyKey(),
    'Content-Length': bytes instanceof ReadableStream && size !== undefined ? String(size) : undefined,
  });
  // In browsers, fetch does not report upload progress.
  const call = { method: 'POST', body: bytes, headers, onProgress, signal, timeoutSeconds };
  if (!hasXhr() || bytes instanceof ReadableStream) return transport.call(url, isFileUploaded, call);
  const request = { ...call, path: url, body: bytes };
  const attempt = () => sendWithXhr(transport, request, ({ status, text }) => parseBody(status, text, isFileUploaded));
  return transport.withRetry(attempt, { method: 'POST', headers, signal });
}

function labelHeaders(labels: FileLabels): Record<string, string> {
  if ('meta' in labels) return { 'Content-Type': 'application/octet-stream', 'X-File-Meta': labels.meta };
  return { 'Content-Type': labels.type, 'X-File-Name': encodeURIComponent(labels.name.toWellFormed()) };
}
