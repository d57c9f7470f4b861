/** Uploads a file in parts by tus 1.0, so that an interruption does not start it again. */
import type { FileUploaded } from '../protocol/types.ts';
import { invalidMessage, offlineError, PoproomError } from './error.ts';
import { delay, retryDelay, temporaryFailures } from './retry.ts';
import { type Call, type CallOptions, definedHeaders, type Transport } from './transport.ts';

/** Bytes that can be read by parts: a Blob, or the encrypted form of one. */
export interface PartSource {
  readonly size: number;
  slice(from: number, to: number): Blob | Promise<Blob>;
  /** The id that a program keeps to continue the upload. Default: that of the server. */
  idToKeep?(uploadId: string): string;
}

/** The name, type and folder of a file, or the same as sealed metadata. */
export type FileLabels = { name: string; type: string; folder: string | undefined } | { meta: string };

type ResumableFile = FileLabels & {
  bytes: PartSource;
  /** The bytes of the earlier upload, if they differ from those of a new one. */
  continued?: PartSource | undefined;
  once: boolean;
};

export interface ResumableOptions extends CallOptions {
  onProgress?: ((sent: number) => void) | undefined;
  /** The id of an upload of the same file that was interrupted. */
  uploadId?: string | undefined;
  /** Called with the id of the upload, for a later attempt to continue it. */
  onUploadId?: ((uploadId: string) => void) | undefined;
}

/** Small at first, so that a slow connection shows progress and loses little. */
const firstPartBytes = 1024 * 1024;
const [smallestPart, largestPart] = [256 * 1024, 32 * 1024 * 1024];
const [fastPartMs, slowPartMs] = [1000, 4000];

/** Consecutive failures without progress: about two minutes. */
const maxFailures = 8;

/** The codes of errors after which another attempt may succeed. */
export const temporary: readonly string[] = [...temporaryFailures, 'UPLOAD_CONFLICT'];

/** The room to upload to. */
export interface UploadTarget {
  transport: Transport;
  /** The path of the room. */
  path: string;
  /** The PIN or key, and the device. */
  headers: Readonly<Record<string, string | undefined>>;
}

/** The progress of an upload as the server knows it. */
interface Position {
  offset: number;
  /** Set when the file is complete. */
  fileUrl: string | undefined;
}

/** Returns undefined if the server does not support resumable uploads. */
export async function uploadResumably(
  { transport, path, ...target }: UploadTarget,
  file: ResumableFile,
  options: ResumableOptions,
): Promise<FileUploaded | undefined> {
  const { onProgress, onUploadId, signal, timeoutSeconds } = options;
  const callOptions = { signal, timeoutSeconds };
  const headers = definedHeaders({ 'Tus-Resumable': '1.0.0', ...target.headers });

  async function create(): Promise<{ id: string; position: Position }> {
    const { once } = file;
    const metadata = { ...labelsOf(file), ...(once && { once: 'true' }) };
    const response = await transport.send(`${path}/uploads`, {
      method: 'POST',
      headers: { ...headers, 'Upload-Length': String(file.bytes.size), 'Upload-Metadata': encodeMetadata(metadata) },
      ...callOptions,
    });
    const [id] = /[0-9a-f]{32}$/.exec(response.headers.get('Location') ?? '') ?? [];
    if (!id) throw invalidMessage('an upload without an id');
    // An older server ignores the key. Nothing has been sent yet.
    if (once && !/(^|,)once /.test(response.headers.get('Upload-Metadata') ?? '')) {
      await transport.send(`${path}/uploads/${id}`, { method: 'DELETE', headers, ...callOptions });
      throw noOneTimeFiles();
    }
    return { id, position: positionIn(response) };
  }

  async function positionOf(id: string): Promise<Position> {
    const call = { headers, ...callOptions };
    const response = await transport.send(`${path}/uploads/${id}`, { ...call, method: 'HEAD' }).catch(async (error) => {
      // A response to HEAD has no body with a code. That of the room says why, except for a missing upload.
      if (error instanceof PoproomError && error.details.status !== 404) await transport.send(path, call);
      throw error;
    });
    return positionIn(response);
  }

  /** Undefined if there is no such upload any more. */
  async function resume(id: string): Promise<{ id: string; position: Position } | undefined> {
    const position = await positionOf(id).catch((error): undefined => {
      if (!(error instanceof PoproomError) || error.details.status !== 404) throw error;
    });
    return position && { id, position };
  }

  async function sendPart(id: string, source: PartSource, offset: number, bytes: number): Promise<Position> {
    const part = await source.slice(offset, Math.min(offset + bytes, source.size));
    const partHeaders = { 'Content-Type': 'application/offset+octet-stream', 'Upload-Offset': String(offset) };
    const response = await transport.send(`${path}/uploads/${id}`, {
      ...{ method: 'PATCH', headers: { ...headers, ...partHeaders }, body: part, ...callOptions },
      // Elsewhere, the progress within a part would be what was read and not what was sent.
      ...(hasXhr() && { sendBody: sendWithXhr, onProgress: (sent) => onProgress?.(offset + sent) }),
    });
    return positionIn(response);
  }

  async function sendAll(id: string, source: PartSource, from: Position): Promise<string> {
    let position = from;
    let partBytes = firstPartBytes;
    let [failures, furthest] = [0, position.offset];
    while (position.fileUrl === undefined) {
      if (position.offset > source.size) throw invalidMessage('an offset after the end of the file');
      onProgress?.(position.offset);
      const startedAt = Date.now();
      try {
        const next = await sendPart(id, source, position.offset, partBytes);
        if (next.fileUrl === undefined && next.offset <= position.offset)
          throw invalidMessage('an upload without progress');
        position = next;
        // A server that falls back again and again would otherwise receive parts without end.
        if (position.offset > furthest) [failures, furthest] = [0, position.offset];
        partBytes = nextPartBytes(partBytes, Date.now() - startedAt);
      } catch (error) {
        failures += 1;
        position = await recover(id, error, failures, position);
        partBytes = smallestPart;
      }
    }
    onProgress?.(file.bytes.size);
    return position.fileUrl;
  }

  /** Waits, and asks the server how much it has. */
  async function recover(id: string, error: unknown, failures: number, last: Position): Promise<Position> {
    if (signal?.aborted || !(error instanceof PoproomError) || !temporary.includes(error.code)) throw error;
    if (failures >= maxFailures) throw error;
    const waitMs = error.code === 'UPLOAD_CONFLICT' ? 0 : retryDelay(error, failures);
    transport.onRetry?.({ attempt: failures, error, waitMs });
    await delay(waitMs, signal);
    return positionOf(id).catch((failed) => {
      if (failed instanceof PoproomError && temporary.includes(failed.code)) return last;
      throw failed;
    });
  }

  try {
    const resumed = options.uploadId === undefined ? undefined : await resume(options.uploadId);
    const { id, position } = resumed ?? (await create());
    const source = (resumed && file.continued) ?? file.bytes;
    onUploadId?.(source.idToKeep?.(id) ?? id);
    const fileUrl = await sendAll(id, source, position);
    // The server cleans file names, and the URL contains the result.
    const fileName = decodeURIComponent(fileUrl.slice(fileUrl.lastIndexOf('/') + 1));
    const uploaded = { success: true, fileId: id, fileUrl, fileName, fileSize: file.bytes.size } as const;
    return file.once ? { ...uploaded, once: true } : uploaded;
  } catch (error) {
    // Servers before this feature do not know the path.
    if (error instanceof PoproomError && error.code === 'NOT_FOUND') return undefined;
    throw error;
  }
}

export const noOneTimeFiles = (): PoproomError =>
  new PoproomError('INVALID_RESPONSE', 'This server does not support one-time files. The file was not kept.');

function labelsOf(file: FileLabels): Record<string, string> {
  if ('meta' in file) return { meta: file.meta };
  const { name: filename, type: filetype, folder } = file;
  return { filename, filetype, ...(folder && { folder }) };
}

function nextPartBytes(bytes: number, ms: number): number {
  if (ms < fastPartMs) return Math.min(2 * bytes, largestPart);
  return ms > slowPartMs ? Math.max(bytes / 2, smallestPart) : bytes;
}

function positionIn({ headers }: Response): Position {
  const offset = Number(headers.get('Upload-Offset') ?? Number.NaN);
  if (!Number.isSafeInteger(offset) || offset < 0) throw invalidMessage('an upload without an offset');
  return { offset, fileUrl: headers.get('X-File-Url') ?? undefined };
}

function encodeMetadata(values: Record<string, string>): string {
  const base64 = (text: string) => {
    const bytes = new TextEncoder().encode(text.toWellFormed());
    return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
  };
  return Object.entries(values)
    .map(([key, value]) => `${key} ${base64(value)}`)
    .join(',');
}

type XhrEvent = 'onprogress' | 'onload' | 'onerror' | 'onabort' | 'onloadend';

/** The subset used here, because the types for Node do not include it. */
interface XmlHttpRequest extends Record<XhrEvent, (() => void) | null> {
  readonly status: number;
  readonly responseText: string;
  readonly upload: { onprogress: ((progress: { loaded: number }) => void) | null };
  open(method: string, url: string): void;
  setRequestHeader(name: string, value: string): void;
  getAllResponseHeaders(): string;
  send(body: unknown): void;
  abort(): void;
}

export const hasXhr = () => 'XMLHttpRequest' in globalThis;

/** For browsers, whose `fetch` does not report the progress of uploads. */
export const sendWithXhr: NonNullable<Call['sendBody']> = (url, { method, headers, body, signal }, onBytes) =>
  new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const { XMLHttpRequest } = globalThis as unknown as { XMLHttpRequest: new () => XmlHttpRequest };
    const request = new XMLHttpRequest();
    request.open(method, url);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.onprogress = () => onBytes();
    request.upload.onprogress = ({ loaded }) => {
      try {
        onBytes(loaded);
      } catch (error) {
        reject(error);
        request.abort();
      }
    };
    request.onload = () => resolve(new Promise((done) => done(responseOf(request))));
    request.onerror = () => reject(offlineError());
    request.onabort = () => reject(signal?.reason);
    const abort = () => request.abort();
    signal?.addEventListener('abort', abort);
    request.onloadend = () => signal?.removeEventListener('abort', abort);
    request.send(body);
  });

function responseOf(request: XmlHttpRequest): Response {
  const lines = request.getAllResponseHeaders().matchAll(/^(.+?): (.*)$/gm);
  const headers = [...lines].map(([, name = '', value = '']): [string, string] => [name, value]);
  return new Response(request.responseText || null, { status: request.status, headers });
}
