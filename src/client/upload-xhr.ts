/** Uploads a file with XMLHttpRequest, which reports progress in browsers. */
import type { FileUploaded } from '../protocol/types.ts';
import { errorFrom, offlineError } from './error.ts';
import { isFileUploaded } from './shapes.ts';
import { parseBody, type Transport } from './transport.ts';

export interface XhrUploadOptions {
  headers: Readonly<Record<string, string>>;
  onProgress: ((sent: number) => void) | undefined;
  signal: AbortSignal | undefined;
}

/** The subset used here, because the types for Node do not include it. */
interface XmlHttpRequest {
  readonly status: number;
  readonly responseText: string;
  readonly upload: { onprogress: ((progress: { loaded: number }) => void) | null };
  onload: (() => void) | null;
  onerror: (() => void) | null;
  onabort: (() => void) | null;
  onloadend: (() => void) | null;
  open(method: string, url: string): void;
  setRequestHeader(name: string, value: string): void;
  getResponseHeader(name: string): string | null;
  send(body: Blob): void;
  abort(): void;
}

export function uploadWithXhr(
  transport: Transport,
  path: string,
  file: Blob,
  { headers, onProgress, signal }: XhrUploadOptions,
): Promise<FileUploaded> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const { XMLHttpRequest } = globalThis as unknown as { XMLHttpRequest: new () => XmlHttpRequest };
    const request = new XMLHttpRequest();
    request.open('POST', transport.url + path);
    for (const [header, value] of Object.entries({ ...transport.headers, ...headers }))
      request.setRequestHeader(header, value);
    request.upload.onprogress = ({ loaded }) => {
      try {
        onProgress?.(loaded);
      } catch (error) {
        reject(error);
        request.abort();
      }
    };
    request.onload = () => {
      const header = (header: string) => request.getResponseHeader(header);
      transport.recordRateLimit(header);
      const { status, responseText } = request;
      if (status === 201) resolve(new Promise((done) => done(parseBody(status, responseText, isFileUploaded))));
      else reject(errorFrom(status, responseText, header));
    };
    request.onerror = () => reject(offlineError());
    request.onabort = () => reject(signal?.reason);
    const abort = () => request.abort();
    signal?.addEventListener('abort', abort);
    request.onloadend = () => signal?.removeEventListener('abort', abort);
    request.send(file);
  });
}
