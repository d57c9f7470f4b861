/** Files in a bucket of any S3 store. An upload waits on the local disk until it is whole, and then goes in one piece. */
import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import type { S3Client, S3ClientConfig } from '@aws-sdk/client-s3';
import type { BlobStore } from '../core/ports.ts';
import { checkedName, isBlobName } from './blob-name.ts';
import { isPassing, isReply, noneIfNoSuchKey, s3Failure } from './s3-failure.ts';
import { type Sending, watchSending } from './s3-watch.ts';
import { createSemaphore } from './semaphore.ts';
import { openStaging, type StagedFile } from './staging.ts';

export interface S3Options {
  bucket: string;
  /** What the keys of this installation begin with, so that others can share the bucket. */
  prefix: string;
  /** Undefined for AWS itself. */
  endpoint: string | undefined;
  /** The bucket in the path instead of the host name. By default so with any store but that of AWS. */
  pathStyle?: boolean | undefined;
  /** A folder on the local disk for uploads that are not whole yet. */
  spool: string;
  /** Bytes that must stay free on that disk. */
  minFree: number;
}

/** How long a silent store is waited for, in milliseconds; for tests to hasten. */
export interface Patience {
  connect: number;
  answer: number;
  /** Until a file has been sent and answered. Our own clients, who wait for it in silence, are cut off after 60 s. */
  upload: number;
  /** While nothing of a file moves, until the store is asked for a sign of life, and as long again until it gives one. */
  quiet: number;
  /** A reader who pauses makes this connection idle too, and may do so for 60 s. */
  idle: number;
}

export const usualPatience: Patience = { connect: 1500, answer: 10_000, upload: 45_000, quiet: 2000, idle: 70_000 };

/** A sweep may remove hundreds; each would open a connection of its own. */
const removalsAtOnce = 50;

export async function openS3Blobs(options: S3Options, given: Partial<Patience> = {}): Promise<BlobStore> {
  const { bucket: Bucket, prefix, spool, minFree } = options;
  const patience = { ...usualPatience, ...given };
  const staging = openStaging({ folder: spool, minFree });
  // Only here: it takes longer to load than all the rest, and most installations keep their files on the disk.
  const s3 = await import('@aws-sdk/client-s3');
  const client = await createClient(s3.S3Client, options, patience);

  const brief = { requestTimeout: patience.answer };
  const removal = createSemaphore(removalsAtOnce);
  const keyOf = (blob: string) => prefix + checkedName(blob);

  function send(Key: string, bytes: Readable, size: number, abortSignal: AbortSignal): Promise<unknown> {
    const command = new s3.PutObjectCommand({
      Bucket,
      Key,
      Body: bytes,
      ContentLength: size,
      ContentType: 'application/octet-stream',
    });
    return client.send(command, { requestTimeout: patience.upload, abortSignal });
  }

  async function remove(blob: string): Promise<void> {
    const command = new s3.DeleteObjectCommand({ Bucket, Key: keyOf(blob) });
    await removal(() => ask(() => client.send(command, brief).catch(noneIfNoSuchKey)));
  }

  const isAlive = oneAtATime(() =>
    twice(() => client.send(new s3.HeadBucketCommand({ Bucket }), brief)).then(() => true, isReply),
  );
  const watch = { isAlive, quietMs: patience.quiet };

  async function publish({ path, size }: StagedFile, blob: string, signal: AbortSignal): Promise<void> {
    try {
      await ask(() => reading(path, signal, watch, (bytes, until) => send(keyOf(blob), bytes, size, until)));
    } catch (error) {
      // The last byte may have arrived just before. Where this fails too, the walk over strays finds it.
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
      // A store that breaks off before anyone reads must not end the process.
      return body?.on('error', () => undefined);
    },

    async size(blob) {
      const command = new s3.HeadObjectCommand({ Bucket, Key: keyOf(blob) });
      return (await ask(() => client.send(command, brief).catch(noneIfNoSuchKey)))?.ContentLength;
    },

    remove,

    async *orphanBlobs(moment) {
      await staging.removeOld(moment);
      // What has a slash after our prefix belongs to others; there may be many.
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

async function createClient(Client: typeof S3Client, options: S3Options, patience: Patience): Promise<S3Client> {
  const { endpoint, pathStyle = endpoint !== undefined } = options;
  // Every S3 store needs some region to be named, and most do not care which.
  const region = await new Client({}).config.region().catch(() => 'us-east-1');
  return new Client({
    region,
    ...(endpoint !== undefined && { endpoint }),
    forcePathStyle: pathStyle,
    // It repeats no upload and waits twice for the dead; see ask().
    maxAttempts: 1,
    // Many stores lack the newer checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // Stores and proxies that do not know it would delay each upload by seconds.
    expectContinueHeader: false,
    requestHandler: connections(patience),
    logger: silence,
  });
}

function connections({ connect, answer, idle }: Patience): NonNullable<S3ClientConfig['requestHandler']> {
  // What waits for a free connection would count as not connected in time.
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

/** It would write its warnings to the console, past the log. */
const quiet = () => undefined;
const silence = { trace: quiet, debug: quiet, info: quiet, warn: quiet, error: quiet };

/** Says in the words of the service what failed. */
function ask<T>(question: () => Promise<T>): Promise<T> {
  return twice(question).catch((error) => {
    throw s3Failure(error);
  });
}

/** Asks a second time where the failure may be a passing one. */
function twice<T>(question: () => Promise<T>): Promise<T> {
  return question().catch(async (error) => {
    if (!isPassing(error)) throw error;
    await pause(100 + 200 * Math.random());
    return question();
  });
}

/** Many files may wait for the same answer. */
function oneAtATime<T>(ask: () => Promise<T>): () => Promise<T> {
  let asked: Promise<T> | undefined;
  return () => {
    asked ??= ask().finally(() => {
      asked = undefined;
    });
    return asked;
  };
}

/** Reads a file. A read that fails ends the request, and the end of the request ends the reading. */
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
    // The library only says that it was told to stop.
    throw over.signal.reason ?? error;
  } finally {
    stopWatching();
    bytes.destroy();
    // A store that refuses before it has read everything leaves a request that would never end.
    over.abort();
  }
}
