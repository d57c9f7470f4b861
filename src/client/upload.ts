/** Uploads a file, with progress. */
import type { FileUploaded } from '../protocol/types.ts';
import { noOneTimeFiles, uploadResumably } from './resumable-upload.ts';
import { isConfirmation, isFileUploaded } from './shapes.ts';
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
  /** Makes it a one-time file, which is erased after one receipt; see `room.receive()`. */
  once?: boolean | undefined;
  /** Called with the number of bytes that the server has. For a stream, the bytes read from it. */
  onProgress?: ((sent: number) => void) | undefined;
  /** Continues an earlier upload of the same file, if the server still has it. */
  uploadId?: string | undefined;
  /** Called with the id of a resumable upload. Keep it to continue the upload after a restart of the program. */
  onUploadId?: ((uploadId: string) => void) | undefined;
}

/** The identity of the uploader. */
interface Sender {
  pin: string | undefined;
  deviceId: string | undefined;
}

/** Larger files are sent in parts that can be resumed. In one request, only browsers report progress. */
const resumableFrom = 5 * 1024 * 1024;

/** `path` is that of the room. */
export async function upload(
  transport: Transport,
  path: string,
  source: UploadSource,
  { name = nameOf(source), ...options }: UploadOptions & Sender,
): Promise<FileUploaded> {
  if (!name) throw new TypeError('A file needs a name: set `name` in the options.');
  const opened = await openSource(source);
  const type = options.type || (opened instanceof Blob && opened.type) || 'application/octet-stream';
  const { folder, once = false, signal } = options;
  // Browsers cannot send a stream.
  const bytes = opened instanceof Blob || !hasXhr() ? opened : await readIntoBlob(opened, signal);
  if (bytes instanceof Blob && isResumable(bytes, options)) {
    const { pin, deviceId, onProgress, uploadId, onUploadId } = options;
    const resumable = { pin, deviceId, onProgress, signal, uploadId, onUploadId };
    const uploaded = await uploadResumably(transport, path, { bytes, name, type, folder, once }, resumable);
    if (uploaded) return uploaded;
  }
  const uploaded = withId(await uploadWhole(transport, path, bytes, { ...options, name, type }));
  if (once && !uploaded.once) await undoUpload(transport, path, uploaded, options.pin);
  return uploaded;
}

type UploadAnswer = Omit<FileUploaded, 'fileId'> & { fileId?: string };

function withId({ fileId, ...uploaded }: UploadAnswer): FileUploaded {
  return { ...uploaded, fileId: fileId ?? /[0-9a-f]{32}/.exec(uploaded.fileUrl)?.[0] ?? '' };
}

/** An older server has stored the file as an ordinary one, which everyone in the room can read. */
async function undoUpload(
  transport: Transport,
  path: string,
  { fileId }: FileUploaded,
  pin: string | undefined,
): Promise<never> {
  const headers = { 'X-Room-Pin': pin };
  await transport.call(`${path}/files/${encodeURIComponent(fileId)}`, isConfirmation, { method: 'DELETE', headers });
  throw noOneTimeFiles();
}

const hasXhr = () => 'XMLHttpRequest' in globalThis;

/** Outside browsers, a single request would report what was read and not what was sent. */
const isResumable = ({ size }: Blob, { onProgress }: UploadOptions) =>
  size > resumableFrom || (onProgress !== undefined && !hasXhr());

/** In one request. */
function uploadWhole(
  transport: Transport,
  path: string,
  bytes: Blob | ReadableStream<Uint8Array>,
  options: UploadOptions & Sender & { name: string; type: string },
): Promise<UploadAnswer> {
  const { name, type, folder, once, pin, deviceId, onProgress, signal } = options;
  const query = new URLSearchParams({ ...(folder && { folder }), ...(once && { once: 'true' }) });
  const url = `${path}/upload${query.size > 0 ? `?${query}` : ''}`;
  const headers = definedHeaders({
    'Content-Type': type,
    'X-File-Name': encodeURIComponent(name.toWellFormed()),
    'X-Room-Pin': pin,
    'X-Device-Id': deviceId,
    ...transport.newIdempotencyKey(),
  });
  // In browsers, fetch does not report upload progress.
  if (!hasXhr() || bytes instanceof ReadableStream)
    return transport.call(url, isFileUploaded, { method: 'POST', body: bytes, headers, onProgress, signal });
  const request = { method: 'POST', path: url, body: bytes, headers, onProgress, signal };
  const attempt = () => sendWithXhr(transport, request, ({ status, text }) => parseBody(status, text, isFileUploaded));
  return transport.withRetry(attempt, { method: 'POST', headers, signal });
}
