/** Sends a file by XMLHttpRequest, which tells how much of it has been sent. */
import type { FileUploaded } from '../protocol/types.ts';
import { errorFrom, unreachable } from './error.ts';
import { isFileUploaded } from './shapes.ts';
import { parseAnswer, type Wire } from './wire.ts';

export interface Sending {
  headers: Readonly<Record<string, string>>;
  onProgress: ((sent: number) => void) | undefined;
  signal: AbortSignal | undefined;
}

/** As much of it as is used here: outside browsers, where this is checked too, nobody knows it. */
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

export function sendByRequest(
  wire: Wire,
  path: string,
  file: Blob,
  { headers, onProgress, signal }: Sending,
): Promise<FileUploaded> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const { XMLHttpRequest } = globalThis as unknown as { XMLHttpRequest: new () => XmlHttpRequest };
    const request = new XMLHttpRequest();
    request.open('POST', wire.url + path);
    for (const [header, value] of Object.entries({ ...wire.headers, ...headers }))
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
      wire.note(header);
      const { status, responseText } = request;
      if (status === 201) resolve(new Promise((done) => done(parseAnswer(status, responseText, isFileUploaded))));
      else reject(errorFrom(status, responseText, header));
    };
    request.onerror = () => reject(unreachable());
    request.onabort = () => reject(signal?.reason);
    const callOff = () => request.abort();
    signal?.addEventListener('abort', callOff);
    request.onloadend = () => signal?.removeEventListener('abort', callOff);
    request.send(file);
  });
}
