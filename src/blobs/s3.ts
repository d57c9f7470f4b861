/** Blobs in an S3 bucket. An upload is spooled to the local disk, and sent in one piece when it is complete. */
import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import type { S3Client, S3ClientConfig } from '@aws-sdk/client-s3';
import { singleFlight } from '../core/concurrency.ts';
import type { BlobStore } from '../core/ports.ts';
import { checkedName, isBlobName } from './blob-name.ts';
import { isPassing, isReply, noneIfNoSuchKey, s3Failure } from './s3-failure.ts';
import { type Sending, watchSending } from './s3-watch.ts';
import { createSemaphore } from './semaphore.ts';
import { openStaging, type StagedFile } from './staging.ts';

export interface S3Options {
  bucket: string;
  /** The key prefix of this installation, so that the bucket can be shared. */
  prefix: string;
  /** Undefined for AWS. */
  endpoint: string | undefined;
  /** Whether the bucket is in the path instead of the host name. The default is true except for AWS. */
  pathStyle?: boolean | undefined;
  /** A local folder for incomplete uploads. */
  spool: string;
  /** Bytes that must stay free on that disk. */
  minFree: number;
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

export const defaultTimeouts: Timeouts = { connect: 1500, answer: 10_000, upload: 45_000, quiet: 2000, idle: 70_000 };

/** A sweep may remove hundreds of objects, each on its own connection. */
const maxRemovals = 50;

export async function openS3Blobs(options: S3Options, given: Partial<Timeouts> = {}): Promise<BlobStore> {
  const { bucket: Bucket, prefix, spool, minFree } = options;
  const timeouts = { ...defaultTimeouts, ...given };
  const staging = openStaging({ folder: spool, minFree });
  // Loaded on demand: it takes longer than everything else, and most installations store files on disk.
  const s3 = await import('@aws-sdk/client-s3');
  const client = await createClient(s3.S3Client, options, timeouts);

  const brief = { requestTimeout: timeouts.answer };
  const removal = createSemaphore(maxRemovals);
  const keyOf = (blob: string) => prefix + checkedName(blob);

  function send(Key: string, bytes: Readable, size: number, abortSignal: AbortSignal): Promise<unknown> {
    const command = new s3.PutObjectCommand({
      Bucket,
      Key,
      Body: bytes,
      ContentLength: size,
      ContentType: 'application/octet-stream',
    });
    return client.send(command, { requestTimeout: timeouts.upload, abortSignal });
  }

  async function remove(blob: string): Promise<void> {
    const command = new s3.DeleteObjectCommand({ Bucket, Key: keyOf(blob) });
    await removal(() => ask(() => client.send(command, brief).catch(noneIfNoSuchKey)));
  }

  const isAlive = singleFlight(() =>
    twice(() => client.send(new s3.HeadBucketCommand({ Bucket }), brief)).then(() => true, isReply),
  );
  const watch = { isAlive, quietMs: timeouts.quiet };

  async function publish({ path, size }: StagedFile, blob: string, signal: AbortSignal): Promise<void> {
    try {
      await ask(() => reading(path, signal, watch, (bytes, until) => send(keyOf(blob), bytes, size, until)));
    } catch (error) {
      // The object may have been stored just before the abort. If this fails, the scan for orphaned bytes removes it.
      if (signal.aborted) await remove(blob).catch(() => undefined);
      throw error;
    }
  }

  return {
    put(blob, bytes, maxBytes, signal) {
      return staging.write({ blob, bytes, maxBytes, signal }, async (staged) => {
        await publish(staged, blob, signal);
        await rm(staged.path);
      });
    },

    async open(blob, range) {
      const Range = range && `bytes=${range.start}-${range.end}`;
      const command = new s3.GetObjectCommand({ Bucket, Key: keyOf(blob), Range });
      const found = await ask(() => client.send(command, brief).catch(noneIfNoSuchKey));
      const body = found?.Body as Readable | undefined;
      // An error before anyone reads must not end the process.
      return body?.on('error', () => undefined);
    },

    async size(blob) {
      const command = new s3.HeadObjectCommand({ Bucket, Key: keyOf(blob) });
      return (await ask(() => client.send(command, brief).catch(noneIfNoSuchKey)))?.ContentLength;
    },

    remove,

    async *orphanBlobs(moment) {
      await staging.removeOld(moment);
      // Keys with a slash after our prefix belong to others. There may be many.
      const ours = { Bucket, Prefix: prefix, Delimiter: '/' };
      let ContinuationToken: string | undefined;
      do {
        const command = new s3.ListObjectsV2Command({ ...ours, ContinuationToken });
        const page = await ask(() => client.send(command, brief));
        const old = (page.Contents ?? []).filter(({ LastModified }) => LastModified && Number(LastModified) < moment);
        yield old.map(({ Key = '' }) => Key.slice(prefix.length)).filter(isBlobName);
        ContinuationToken = page.NextContinuationToken;
      } while (ContinuationToken);
    },

    checkSpace: staging.checkSpace,

    async ping() {
      await staging.ping();
      await ask(() => client.send(new s3.HeadBucketCommand({ Bucket }), brief));
    },
  };
}

async function createClient(Client: typeof S3Client, options: S3Options, timeouts: Timeouts): Promise<S3Client> {
  const { endpoint, pathStyle = endpoint !== undefined } = options;
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
  return {
    connectionTimeout: connect,
    requestTimeout: answer,
    throwOnRequestTimeout: true,
    socketTimeout: idle,
    httpAgent: agent,
    httpsAgent: agent,
  };
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
async function reading(
  path: string,
  signal: AbortSignal,
  watch: Pick<Sending, 'isAlive' | 'quietMs'>,
  use: (bytes: Readable, until: AbortSignal) => Promise<unknown>,
): Promise<void> {
  const over = new AbortController();
  const giveUp = (why: Error) => over.abort(why);
  const bytes = createReadStream(path);
  bytes.once('error', giveUp);
  const stopWatching = watchSending({ ...watch, moved: () => bytes.bytesRead, giveUp });
  try {
    await use(bytes, AbortSignal.any([signal, over.signal]));
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
