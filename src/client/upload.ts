/** Uploads, with their progress. */
import { largestFile } from '../protocol/largest-file.ts';
import type { FileUploaded } from '../protocol/types.ts';
import { tooLarge } from './error.ts';
import { isFileUploaded } from './shapes.ts';
import { sendByRequest } from './upload-by-request.ts';
import { gather, nameOf, open, type UploadSource } from './upload-source.ts';
import { type CallOptions, given, type Wire } from './wire.ts';

export interface UploadOptions extends CallOptions {
  /** Needed where the source has none of its own. */
  name?: string | undefined;
  /** Such as `image/png`; that of a Blob when not said. */
  type?: string | undefined;
  /** Told of the bytes that are on their way. */
  onProgress?: ((sent: number) => void) | undefined;
}

export async function upload(
  wire: Wire,
  path: string,
  source: UploadSource,
  { name = nameOf(source), type, pin, onProgress, signal }: UploadOptions & { pin: string | undefined },
): Promise<FileUploaded> {
  if (!name) throw new TypeError('A file needs a name: say it in the options.');
  const opened = await open(source);
  if (opened instanceof Blob && opened.size > largestFile) throw tooLarge();
  const headers = given({
    'Content-Type': type || (opened instanceof Blob && opened.type) || 'application/octet-stream',
    'X-File-Name': encodeURIComponent(name.toWellFormed()),
    'X-Room-Pin': pin,
  });
  // In browsers fetch does not tell how much has been sent, and most cannot send a stream.
  if (!('XMLHttpRequest' in globalThis))
    return wire.call(path, isFileUploaded, { method: 'POST', body: opened, headers, onProgress, signal });
  const file = opened instanceof Blob ? opened : await gather(opened, signal);
  const attempt = () => sendByRequest(wire, path, file, { headers, onProgress, signal });
  return wire.persist(attempt, { method: 'POST', signal });
}
