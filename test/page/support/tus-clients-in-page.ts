/** Uploads by tus-js-client and Uppy. This file is bundled and runs in the browser. */
import Uppy from '@uppy/core';
import UppyTus from '@uppy/tus';
import { DetailedError, Upload } from 'tus-js-client';
import type { WithTusClients } from './tus-clients.ts';

export interface TusClient {
  /** Uploads files of this size at the same time. Returns their names with the SHA-256 of each. */
  upload(endpoint: string, count: number, size: number): Promise<Record<string, string>>;
  /** Cancels an upload, with its bytes on the server, when the first part has been stored. */
  cancel(endpoint: string, size: number): Promise<void>;
  /** The status of the response that rejects an upload. */
  rejectedWith(endpoint: string, size: number): Promise<number | undefined>;
}

export type TusClients = typeof tusClients;

const chunkSizeFor = (size: number) => Math.max(1024 * 1024, Math.ceil(size / 25));
/** The server is not reachable for a while when it has been killed. */
const retryDelays: number[] = Array(300).fill(100);

const tusJsClient: TusClient = {
  async upload(endpoint, count, size) {
    const files = createFiles(count, size);
    await Promise.all(files.map((file) => startUpload(endpoint, file).ended));
    return hashesOf(files);
  },

  async cancel(endpoint, size) {
    const [file] = createFiles(1, size) as [File];
    const { upload, firstPart } = startUpload(endpoint, file);
    await firstPart;
    await upload.abort(true);
  },

  async rejectedWith(endpoint, size) {
    const [file] = createFiles(1, size) as [File];
    const error = await startUpload(endpoint, file).ended.catch((reason: unknown) => reason);
    return error instanceof DetailedError ? error.originalResponse?.getStatus() : undefined;
  },
};

function startUpload(endpoint: string, file: File) {
  const ended = Promise.withResolvers<void>();
  const firstPart = Promise.withResolvers<void>();
  const upload = new Upload(file, {
    ...{ endpoint, chunkSize: chunkSizeFor(file.size), retryDelays, addRequestId: true },
    metadata: { filename: file.name, filetype: file.type },
    onProgress: reportProgress(),
    onChunkComplete: () => firstPart.resolve(),
    onSuccess: () => ended.resolve(),
    onError: ended.reject,
  });
  upload.start();
  return { upload, firstPart: firstPart.promise, ended: ended.promise };
}

const uppy: TusClient = {
  async upload(endpoint, count, size) {
    const files = createFiles(count, size);
    const { uppy } = createUppy(endpoint, size);
    for (const file of files) uppy.addFile({ name: file.name, type: file.type, data: file });
    const result = await uppy.upload();
    if (result?.failed?.length !== 0) throw new Error(JSON.stringify(result?.failed));
    return hashesOf(files);
  },

  async cancel(endpoint, size) {
    const [file] = createFiles(1, size) as [File];
    const { uppy, firstPart } = createUppy(endpoint, size);
    const id = uppy.addFile({ name: file.name, type: file.type, data: file });
    void uppy.upload();
    await firstPart;
    uppy.removeFile(id);
  },

  async rejectedWith(endpoint, size) {
    const [file] = createFiles(1, size) as [File];
    const { uppy } = createUppy(endpoint, size);
    const rejected = Promise.withResolvers<number | undefined>();
    uppy.on('upload-error', (_, error) => {
      rejected.resolve((error as unknown as DetailedError).originalResponse?.getStatus());
    });
    uppy.addFile({ name: file.name, type: file.type, data: file });
    await uppy.upload();
    return rejected.promise;
  },
};

function createUppy(endpoint: string, size: number) {
  const chunkSize = chunkSizeFor(size);
  const firstPart = Promise.withResolvers<void>();
  const uppy = new Uppy().use(UppyTus, {
    endpoint,
    chunkSize,
    retryDelays,
    onChunkComplete: () => firstPart.resolve(),
  });
  const reports = new Map<string, (sent: number) => void>();
  uppy.on('upload-progress', (file, { bytesUploaded }) => {
    const report = reports.get(file?.id ?? '') ?? reportProgress();
    reports.set(file?.id ?? '', report);
    if (typeof bytesUploaded === 'number') report(bytesUploaded);
  });
  return { uppy, firstPart: firstPart.promise };
}

/** Tells the test how many bytes have been sent since the last call. */
function reportProgress(): (sent: number) => void {
  let before = 0;
  return (sent) => {
    (globalThis as WithTusClients).onSent(Math.max(0, sent - before));
    before = Math.max(before, sent);
  };
}

function createFiles(count: number, size: number): File[] {
  return Array.from({ length: count }, (_, n) => new File(randomParts(size), `video ${n}.mp4`, { type: 'video/mp4' }));
}

function randomParts(size: number): Uint8Array<ArrayBuffer>[] {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  for (let left = size; left > 0; left -= 65_536) {
    parts.push(crypto.getRandomValues(new Uint8Array(Math.min(left, 65_536))));
  }
  return parts;
}

async function hashesOf(files: readonly File[]): Promise<Record<string, string>> {
  const entries = files.map(async (file) => [file.name, await sha256(await file.arrayBuffer())] as const);
  return Object.fromEntries(await Promise.all(entries));
}

async function sha256(bytes: ArrayBuffer): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)).toHex();
}

export const tusClients = { 'tus-js-client': tusJsClient, Uppy: uppy };
