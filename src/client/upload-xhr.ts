/** Sends bytes with XMLHttpRequest, which reports progress in browsers. */
import { errorFrom, offlineError } from './error.ts';
import type { Transport } from './transport.ts';

export interface XhrCall {
  method: string;
  path: string;
  body: Blob;
  headers: Readonly<Record<string, string>>;
  onProgress: ((sent: number) => void) | undefined;
  signal: AbortSignal | undefined;
  timeoutSeconds: number | undefined;
}

/** The subset used here, because the types for Node do not include it. */
interface XmlHttpRequest {
  readonly status: number;
  readonly responseText: string;
  readonly upload: { onprogress: ((progress: { loaded: number }) => void) | null };
  onprogress: (() => void) | null;
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

export interface XhrResponse {
  status: number;
  text: string;
  header(name: string): string | null;
}

/** `parse` converts a successful response. */
export function sendWithXhr<T>(
  transport: Transport,
  { method, path, body, headers, onProgress, signal, timeoutSeconds }: XhrCall,
  parse: (response: XhrResponse) => T,
): Promise<T> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const { XMLHttpRequest } = globalThis as unknown as { XMLHttpRequest: new () => XmlHttpRequest };
    const request = new XMLHttpRequest();
    const silence = transport.timeouts?.watch({ signal, timeoutSeconds }, 0);
    const stopped = silence?.signal ?? signal;
    request.open(method, transport.url + path);
    for (const [header, value] of Object.entries({ ...transport.headers, ...headers }))
      request.setRequestHeader(header, value);
    request.onprogress = () => silence?.onBytes();
    request.upload.onprogress = ({ loaded }) => {
      silence?.onBytes();
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
      const { status, responseText: text } = request;
      if (status >= 200 && status < 300) resolve(new Promise((done) => done(parse({ status, text, header }))));
      else reject(errorFrom(status, text, header));
    };
    request.onerror = () => reject(offlineError());
    request.onabort = () => reject(stopped?.reason);
    const abort = () => request.abort();
    stopped?.addEventListener('abort', abort);
    request.onloadend = () => {
      silence?.stop();
      stopped?.removeEventListener('abort', abort);
    };
    request.send(body);
  });
}
