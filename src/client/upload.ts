/** Uploads. By XMLHttpRequest, because in browsers fetch does not tell how much has been sent. */
import type { FileUploaded } from '../protocol/types.ts';
import { errorFrom, unreachable } from './error.ts';
import { given, parseAnswer, type Wire } from './wire.ts';

export interface UploadOptions {
  name: string;
  /** Told of the bytes that are on their way. */
  onProgress?: (sent: number) => void;
  signal?: AbortSignal;
}

export function upload(
  wire: Wire,
  path: string,
  file: Blob,
  { name, pin, onProgress, signal }: UploadOptions & { pin: string | undefined },
): Promise<FileUploaded> {
  const headers = given({
    'Content-Type': file.type || 'application/octet-stream',
    'X-File-Name': encodeURIComponent(name.toWellFormed()),
    'X-Room-Pin': pin,
  });
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const request = new XMLHttpRequest();
    request.open('POST', wire.url + path);
    for (const [header, value] of Object.entries(headers)) request.setRequestHeader(header, value);
    request.upload.onprogress = ({ loaded }) => onProgress?.(loaded);
    request.onload = () => {
      const header = (header: string) => request.getResponseHeader(header);
      wire.note(header);
      const { status, responseText } = request;
      if (status === 201) resolve(new Promise((done) => done(parseAnswer<FileUploaded>(status, responseText))));
      else reject(errorFrom(status, responseText, header('Retry-After')));
    };
    request.onerror = () => reject(unreachable());
    request.onabort = () => reject(signal?.reason);
    signal?.addEventListener('abort', () => request.abort());
    request.send(file);
  });
}
