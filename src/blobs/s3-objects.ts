/** Requests to an S3 bucket. Keys are given without the prefix of the installation. */
import { createReadStream, ReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import type { S3Client, S3ClientConfig } from '@aws-sdk/client-s3';
import { singleFlight } from '../core/concurrency.ts';
import { PoproomError } from '../core/errors.ts';
import type { ByteRange } from '../core/ports/files.ts';
import { storageFull } from './receive.ts';

export interface S3Location {
  bucket: string;
  /** The key prefix of this installation, so that the bucket can be shared. */
  prefix: string;
  /** Undefined for AWS. */
  endpoint: string | undefined;
  /** Whether the bucket is in the path instead of the host name. The default is true except for AWS. */
  pathStyle?: boolean | undefined;
}

/** Timeouts in milliseconds, which tests shorten. */
export interface Timeouts {
  connect: number;
  answer: number;
  /** For a whole upload with its response. Clients that wait for it without traffic are disconnected after 60 s. */
  upload: number;
  /** Without progress, until the store is checked, and the same again until it must respond. */
  quiet: number;
  /** A client that pauses a download makes this connection idle too, for up to 60 s. */
  idle: number;
}

/** A file on the local disk whose bytes are sent. */
interface LocalFile {
  path: string;
  /** The position of the first byte. */
  start: number;
  size: number;
}

/** The number of a part and the ETag that the store gave it. */
export type UploadedPart = [number: number, etag: string];

type StoredObject = { key: string; lastModified: number };

export type S3Objects = Awaited<ReturnType<typeof openS3Objects>>;

/** A sweep may remove hundreds of objects, each on its own connection. */
const maxRemovals = 50;

export async function openS3Objects({ bucket: Bucket, prefix, ...location }: S3Location, timeouts: Timeouts) {
  // Loaded on demand: it takes longer than everything else, and most installations store files on disk.
  const s3 = await import('@aws-sdk/client-s3');
  const client = await createClient(s3.S3Client, location, timeouts);

  const brief = { requestTimeout: timeouts.answer };
  const removal = createSemaphore(maxRemovals);
  const at = (key: string) => ({ Bucket, Key: prefix + key });

  const isAlive = singleFlight(() =>
    twice(() => client.send(new s3.HeadBucketCommand({ Bucket }), brief)).then(() => true, isReply),
  );
  const watch = { isAlive, quietMs: timeouts.quiet };
  const sending = (abortSignal: AbortSignal) => ({ requestTimeout: timeouts.upload, abortSignal });

  return {
    async put(key: string, file: LocalFile, signal: AbortSignal): Promise<void> {
      const object = { ...at(key), ContentLength: file.size, ContentType: 'application/octet-stream' };
      const send = (Body: Readable, until: AbortSignal) =>
        client.send(new s3.PutObjectCommand({ ...object, Body }), sending(until));
      await ask(() => reading(file, signal, watch, send));
    },

    /** Undefined if there is no such object. */
    async get(key: string, range?: ByteRange): Promise<Readable | undefined> {
      const Range = range && `bytes=${range.start}-${range.end}`;
      const command = new s3.GetObjectCommand({ ...at(key), Range });
      const found = await ask(() => client.send(command, brief).catch(noneIfNoSuchKey));
      const body = found?.Body as Readable | undefined;
      // An error before anyone reads must not end the process.
      return body?.on('error', () => undefined);
    },

    async size(key: string): Promise<number | undefined> {
      const command = new s3.HeadObjectCommand(at(key));
      return (await ask(() => client.send(command, brief).catch(noneIfNoSuchKey)))?.ContentLength;
    },

    async remove(key: string): Promise<void> {
      const command = new s3.DeleteObjectCommand(at(key));
      await removal(() => ask(() => client.send(command, brief).catch(noneIfNoSuchKey)));
    },

    /** Objects whose keys start with `start`, in batches. Keys with a slash belong to others. */
    async *list(start = ''): AsyncGenerator<StoredObject[]> {
      let ContinuationToken: string | undefined;
      do {
        const wanted = { Bucket, Prefix: prefix + start, Delimiter: '/', ContinuationToken };
        const page = await ask(() => client.send(new s3.ListObjectsV2Command(wanted), brief));
        yield (page.Contents ?? []).map(({ Key = '', LastModified }) => ({
          key: Key.slice(prefix.length),
          lastModified: Number(LastModified ?? Number.POSITIVE_INFINITY),
        }));
        ContinuationToken = page.NextContinuationToken;
      } while (ContinuationToken);
    },

    /** Starts an upload in parts, and returns its id. */
    async startParts(key: string): Promise<string> {
      const command = new s3.CreateMultipartUploadCommand({ ...at(key), ContentType: 'application/octet-stream' });
      return (await ask(() => client.send(command, brief))).UploadId ?? '';
    },

    async putPart(key: string, UploadId: string, PartNumber: number, file: LocalFile, signal: AbortSignal) {
      const part = { ...at(key), UploadId, PartNumber, ContentLength: file.size };
      const send = (Body: Readable, until: AbortSignal) =>
        client.send(new s3.UploadPartCommand({ ...part, Body }), sending(until));
      const { ETag = '' } = await ask(() => reading(file, signal, watch, send));
      return [PartNumber, ETag] satisfies UploadedPart;
    },

    /** Returns whether there was such an upload. */
    async finishParts(key: string, UploadId: string, parts: readonly UploadedPart[]): Promise<boolean> {
      const MultipartUpload = { Parts: parts.map(([PartNumber, ETag]) => ({ PartNumber, ETag })) };
      const command = new s3.CompleteMultipartUploadCommand({ ...at(key), UploadId, MultipartUpload });
      // A store may take long to assemble a large object.
      const patient = { requestTimeout: timeouts.upload };
      return (await ask(() => client.send(command, patient).catch(noneIfMissingUpload))) !== undefined;
    },

    async abortParts(key: string, UploadId: string): Promise<void> {
      const command = new s3.AbortMultipartUploadCommand({ ...at(key), UploadId });
      await ask(() => client.send(command, brief).catch(noneIfMissingUpload));
    },

    /** The uploads in parts that are not finished, of keys that start with `start`. */
    async listParts(start = '') {
      const found: (StoredObject & { uploadId: string })[] = [];
      let markers: { KeyMarker?: string | undefined; UploadIdMarker?: string | undefined } = {};
      for (;;) {
        const command = new s3.ListMultipartUploadsCommand({ Bucket, Prefix: prefix + start, ...markers });
        const page = await ask(() => client.send(command, brief).catch(noneIfMissingUpload));
        for (const { Key = '', UploadId = '', Initiated } of page?.Uploads ?? []) {
          const lastModified = Number(Initiated ?? Number.POSITIVE_INFINITY);
          found.push({ key: Key.slice(prefix.length), uploadId: UploadId, lastModified });
        }
        if (!page?.IsTruncated) return found;
        markers = { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker };
      }
    },

    async ping(): Promise<void> {
      await ask(() => client.send(new s3.HeadBucketCommand({ Bucket }), brief));
    },
  };
}

async function createClient(
  Client: typeof S3Client,
  { endpoint, pathStyle = endpoint !== undefined }: Pick<S3Location, 'endpoint' | 'pathStyle'>,
  timeouts: Timeouts,
): Promise<S3Client> {
  // Every S3 store requires a region, and most ignore it.
  const region = await new Client({}).config.region().catch(() => 'us-east-1');
  return new Client({
    region,
    ...(endpoint !== undefined && { endpoint }),
    forcePathStyle: pathStyle,
    // The SDK cannot retry streams, and would wait twice for an unreachable store. See ask().
    maxAttempts: 1,
    // Many stores do not support the newer checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // Stores and proxies that do not support it would delay each upload by seconds.
    expectContinueHeader: false,
    requestHandler: connections(timeouts),
    logger: noLogger,
  });
}

function connections({ connect, answer, idle }: Timeouts): NonNullable<S3ClientConfig['requestHandler']> {
  // Waiting for a free connection would count as a connection timeout.
  const agent = { keepAlive: true, maxSockets: Number.POSITIVE_INFINITY };
  const limits = {
    connectionTimeout: connect,
    requestTimeout: answer,
    throwOnRequestTimeout: true,
    socketTimeout: idle,
  };
  return { ...limits, httpAgent: agent, httpsAgent: agent };
}

/** The SDK would write warnings to the console instead of the log. */
const ignore = () => undefined;
const noLogger = { trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore };

/** Runs a request and converts its error. */
function ask<T>(request: () => Promise<T>): Promise<T> {
  return twice(request).catch((error) => {
    throw s3Failure(error);
  });
}

/** Retries once if the failure may be temporary. */
function twice<T>(request: () => Promise<T>): Promise<T> {
  return request().catch(async (error) => {
    if (!isPassing(error)) throw error;
    await pause(100 + 200 * Math.random());
    return request();
  });
}

/** Reads a file for a request. A failed read aborts the request, and the end of the request stops reading. */
async function reading<T>(
  { path, start, size }: LocalFile,
  signal: AbortSignal,
  watch: Watch,
  use: (bytes: Readable, until: AbortSignal) => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const giveUp = (why: Error) => over.abort(why);
  const bytes = size === 0 ? Readable.from([]) : createReadStream(path, { start, end: start + size - 1 });
  bytes.once('error', giveUp);
  const stopWatching = watchSending(watch, () => (bytes instanceof ReadStream ? bytes.bytesRead : 0), giveUp);
  try {
    return await use(bytes, AbortSignal.any([signal, over.signal]));
  } catch (error) {
    // The SDK only reports that it was aborted.
    throw over.signal.reason ?? error;
  } finally {
    stopWatching();
    bytes.destroy();
    // If a store rejects an upload before it has read everything, the request would never end.
    over.abort();
  }
}

interface S3Error extends Error {
  code?: string;
  $metadata?: { httpStatusCode?: number; clockSkewCorrected?: boolean };
}

/** Undefined for a missing object. A missing bucket is an error. */
function noneIfNoSuchKey(error: S3Error): undefined {
  if (error.name !== 'NoSuchKey' && error.name !== 'NotFound') throw error;
}

/** Undefined for an upload in parts that has ended, and for stores that do not support listing or aborting them. */
function noneIfMissingUpload(error: S3Error): undefined {
  const isUnsupported = error.name === 'NotImplemented' || error.name === 'MethodNotAllowed';
  if (error.name !== 'NoSuchUpload' && !isUnsupported) throw error;
}

/** A stale connection or a busy store. Not a silent store: waiting for it twice would take too long. */
function isPassing(error: unknown): boolean {
  const { code = '', $metadata: { httpStatusCode: status = 0, clockSkewCorrected = false } = {} } = error as S3Error;
  const broken = code === 'ECONNRESET' || code === 'EPIPE' || code === 'ECONNREFUSED';
  return broken || clockSkewCorrected || status === 429 || (status >= 500 && !isFull(error as S3Error));
}

/** Whether the store responded, even with an error. */
const isReply = (error: unknown): boolean => (error as S3Error).$metadata?.httpStatusCode !== undefined;

function s3Failure(error: unknown): PoproomError {
  const cause = withoutSecrets(error as S3Error);
  if (isFull(error as S3Error)) return storageFull(cause);
  const message = 'The file store does not respond at the moment. Try again in 5 seconds.';
  return new PoproomError('UNAVAILABLE', message, { retryAfter: 5, cause });
}

/** MinIO and Ceph have error codes for it. Garage denies access with a message. */
function isFull({ name, message, $metadata: { httpStatusCode: status } = {} }: S3Error): boolean {
  const named = /StorageFull|StorageBackendFull|QuotaExceeded|StorageCapExceeded|InsufficientStorage/.test(name);
  return named || status === 507 || (status === 403 && /quota is reached/.test(message));
}

/** A signature error contains the access key and the signed data as fields, which must not be logged. */
function withoutSecrets({ name, message, code, $metadata }: S3Error): Error {
  const status = $metadata?.httpStatusCode;
  return Object.assign(new Error(message), { name }, code && { code }, status && { status });
}

interface Watch {
  /** Resolves to whether the store responds at all. */
  isAlive: () => Promise<boolean>;
  /** How long nothing may move before the store is checked, and how long it then has to respond. */
  quietMs: number;
}

/**
 * Counts polls instead of time, so that a stall of this process does not look like a silent store: between two polls,
 * pending I/O is processed.
 */
const pollsPerQuiet = 8;

/**
 * Distinguishes a slow store from a silent one during an upload. Bytes that the system has accepted may not have
 * reached the store, so if nothing moves for a while, another request checks that the store responds. As long as it
 * does, the upload may continue. Returns a function that stops watching.
 */
function watchSending({ isAlive, quietMs }: Watch, moved: () => number, giveUp: (why: Error) => void): () => void {
  let seen = 0;
  /** Consecutive polls without progress. */
  let quiet = 0;

  const failAsSilent = () => giveUp(new Error('The file store stopped accepting data and does not respond.'));

  async function check(): Promise<void> {
    if (await isAlive()) quiet = 0;
    else failAsSilent();
  }

  const timer = setInterval(() => {
    quiet = moved() === seen ? quiet + 1 : 0;
    seen = moved();
    if (quiet === pollsPerQuiet) void check();
    if (quiet === 2 * pollsPerQuiet) failAsSilent();
  }, quietMs / pollsPerQuiet);
  return () => clearInterval(timer);
}

/** Runs at most `maxConcurrent` tasks at a time. The others wait. */
function createSemaphore(maxConcurrent: number): <T>(work: () => Promise<T>) => Promise<T> {
  let free = maxConcurrent;
  const waiting: (() => void)[] = [];

  return async (work) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free += 1;
    }
  };
}
