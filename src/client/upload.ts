/** Uploads a file, with progress. */
import { largestFile } from '../protocol/largest-file.ts';
import type { FileUploaded } from '../protocol/types.ts';
import { tooLarge } from './error.ts';
import { isFileUploaded } from './shapes.ts';
import { type CallOptions, definedHeaders, type Transport } from './transport.ts';
import { nameOf, openSource, readIntoBlob, type UploadSource } from './upload-source.ts';
import { uploadWithXhr } from './upload-xhr.ts';

export interface UploadOptions extends CallOptions {
  /** File name. Required unless the source is a File or a path. */
  name?: string | undefined;
  /** Media type, such as `image/png`. Default: that of the Blob. */
  type?: string | undefined;
  /** Called with the number of bytes sent so far. */
  onProgress?: ((sent: number) => void) | undefined;
}

export async function upload(
  transport: Transport,
  path: string,
  source: UploadSource,
  { name = nameOf(source), type, pin, onProgress, signal }: UploadOptions & { pin: string | undefined },
): Promise<FileUploaded> {
  if (!name) throw new TypeError('A file needs a name: set `name` in the options.');
  const opened = await openSource(source);
  if (opened instanceof Blob && opened.size > largestFile) throw tooLarge();
  const headers = definedHeaders({
    'Content-Type': type || (opened instanceof Blob && opened.type) || 'application/octet-stream',
    'X-File-Name': encodeURIComponent(name.toWellFormed()),
    'X-Room-Pin': pin,
  });
  // In browsers, fetch does not report upload progress, and most cannot send a stream.
  if (!('XMLHttpRequest' in globalThis))
    return transport.call(path, isFileUploaded, { method: 'POST', body: opened, headers, onProgress, signal });
  const file = opened instanceof Blob ? opened : await readIntoBlob(opened, signal);
  const attempt = () => uploadWithXhr(transport, path, file, { headers, onProgress, signal });
  return transport.withRetry(attempt, { method: 'POST', signal });
}
