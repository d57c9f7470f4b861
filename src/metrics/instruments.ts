/** The counters and histograms that the server updates while it works, and the measurement of stores and files. */
import type { Readable } from 'node:stream';
import { hasCode, PoproomError } from '../core/errors.ts';
import type { LiveMeter } from '../core/live-gateway.ts';
import type { BlobAppend, BlobStore, FileStore, UploadStore } from '../core/ports/files.ts';
import type { EngineParts, Store } from '../core/ports/store.ts';
import type { WebhookSender } from '../core/ports/webhooks.ts';
import { errorCodes, webhookErrors } from '../protocol/error-codes.ts';
import { Counter, type Distribution, definitions, Histogram } from './definitions.ts';

/** `admit` checks access, `count` counts requests and bytes, and `sweep` removes what has expired. */
const storeOperations = ['admit', 'read', 'write', 'count', 'sweep'] as const;
type StoreOperation = (typeof storeOperations)[number];

/** The kinds of file operations that the metrics distinguish. */
const fileOperations = ['put', 'append', 'finish', 'open', 'size', 'space', 'remove'] as const;
type FileOperation = (typeof fileOperations)[number];

/** A file that arrives in one request, or in several. */
const uploadKinds = ['whole', 'resumable'] as const;
type UploadKind = (typeof uploadKinds)[number];

export type Instruments = ReturnType<typeof createInstruments>;

export const createInstruments = () => ({
  requests: new Histogram(definitions.requests),
  refusals: new Counter(
    definitions.refusals,
    Object.keys(errorCodes).map((code) => ['http', code, '']),
  ),
  sweepFailures: new Counter(definitions.sweepFailures, [[]]),
  channelsOpened: new Counter(definitions.channelsOpened, ofEach(['websocket', 'events', 'poll'])),
  channelDurations: new Histogram(definitions.channelDurations),
  messages: new Histogram(definitions.messages),
  divergences: new Counter(definitions.divergences, [[]]),
  storeOperations: new Histogram(definitions.storeOperations, ofEach(storeOperations)),
  storeErrors: new Counter(definitions.storeErrors, ofEach(storeOperations)),
  uploads: new Counter(definitions.uploads, ofEach(uploadKinds)),
  uploadedBytes: new Counter(definitions.uploadedBytes, [[]]),
  uploadInterruptions: new Counter(definitions.uploadInterruptions, ofEach(uploadKinds)),
  fileOperations: new Histogram(definitions.fileOperations, ofEach(fileOperations)),
  fileErrors: new Counter(definitions.fileErrors, ofEach(fileOperations)),
  webhookAttempts: new Counter(definitions.webhookAttempts, ofEach(['delivered', ...Object.keys(webhookErrors)])),
  loopDelay: new Histogram(definitions.loopDelay, [[]]),
  /** Read by gauges. */
  running: { uploads: 0, fileOperations: 0 },
});

/** Metrics with one label: a series for each of its values. */
const ofEach = (values: readonly string[]) => values.map((value) => [value]);

export function liveMeterOf(instruments: Instruments): LiveMeter {
  return {
    opened: (transport) => instruments.channelsOpened.with(transport).add(),
    closed: (transport, reason, seconds) => instruments.channelDurations.with(transport, reason).observe(seconds),
    handled: (type, seconds) => instruments.messages.with(type).observe(seconds),
    refused: (error) => countRefusal(instruments, 'websocket', error),
    diverged: () => instruments.divergences.with().add(),
  };
}

/** Counts the attempts of a sender. An attempt that was not made, because too many are running, does not count. */
export const meteredSender = (sender: WebhookSender, { webhookAttempts }: Instruments): WebhookSender => ({
  ...sender,
  async send(request) {
    const sent = await sender.send(request);
    if (sent.outcome !== 'busy')
      webhookAttempts.with(sent.outcome === 'failed' ? sent.problem.code : sent.outcome).add();
    return sent;
  },
});

export function countRefusal({ refusals }: Instruments, transport: 'http' | 'websocket', error: unknown): void {
  const code = error instanceof PoproomError ? error.code : 'INTERNAL';
  refusals.with(transport, code, reasonOf(error)).add();
}

/** The limits that share an error code, named in its details: those of rates by a reason, those of storage by a scope. */
const limits: readonly unknown[] = [
  ...['requests', 'misses', 'devices', 'channels', 'messages', 'work'],
  ...['client', 'network', 'total'],
];

function reasonOf(error: unknown): string {
  const { reason, scope } = (error instanceof PoproomError && error.details) || {};
  const limit = reason ?? scope;
  return limits.includes(limit) ? String(limit) : '';
}

const delayCheckMs = 100;

/** Measures how long the event loop makes timers wait. Returns a function that ends the measurement. */
export function measureDelay(delays: Distribution): () => void {
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    delays.observe(Math.max(0, now - last - delayCheckMs) / 1000);
    last = now;
  }, delayCheckMs).unref();
  return () => clearInterval(timer);
}

/** Seconds in which the event loop was busy, since the start of the process. */
export function activeSeconds(): number {
  const { performance } = process.getBuiltinModule('node:perf_hooks');
  return performance.eventLoopUtilization().active / 1000;
}

const meteredPorts = [
  'rooms',
  'links',
  'texts',
  'files',
  'uploads',
  'trash',
  'trashClaims',
  'rates',
  'keys',
  'storage',
  'idempotency',
] as const;
type MeteredPort = (typeof meteredPorts)[number];

type Method = (...args: unknown[]) => unknown;
type Methods = Record<string, Method>;

export function meterStore(store: Store & EngineParts, instruments: Instruments): Store & EngineParts {
  const metered: Store & EngineParts = { ...store };
  for (const port of meteredPorts) {
    if (store[port]) Object.assign(metered, { [port]: meterPort(port, store[port], instruments) });
  }
  return { ...metered, ...countUploads(metered, instruments) };
}

function meterPort(port: MeteredPort, methods: object, instruments: Instruments): Methods {
  const metered = Object.entries(methods as Methods).map(([name, method]) => [
    name,
    typeof method === 'function' ? meterMethod(method, operationOf(port, name), instruments) : method,
  ]);
  return Object.fromEntries(metered);
}

/** By the names of methods, so that a port has no list of them to keep. */
function operationOf(port: MeteredPort, method: string): StoreOperation {
  if (port.startsWith('trash') || /^(expire|erase)|Abandoned$/.test(method)) return 'sweep';
  if (method === 'admit' || method === 'read') return 'admit';
  if (/^(read|find|list|count|usage)/.test(method)) return 'read';
  return port === 'rates' || port === 'storage' ? 'count' : 'write';
}

/** Returns the same value or promise as the method: a further promise would delay every operation. */
function meterMethod(method: Method, operation: StoreOperation, instruments: Instruments): Method {
  const durations = instruments.storeOperations.with(operation);
  const errors = instruments.storeErrors.with(operation);
  const onFailure = () => errors.add();
  return (...args) => {
    const startedAt = performance.now();
    const onDone = () => durations.observe(secondsSince(startedAt));
    let result: unknown;
    try {
      result = method(...args);
    } catch (error) {
      onFailure();
      throw error;
    }
    if (result instanceof Promise) result.then(onDone, onFailure);
    else onDone();
    return result;
  };
}

/** A file counts when it is listed. */
function countUploads({ files, uploads }: Store, instruments: Instruments): { files: FileStore; uploads: UploadStore } {
  const counted = <T>(kind: UploadKind, outcome: T): T => {
    if (typeof outcome === 'object' && outcome && 'seq' in outcome) instruments.uploads.with(kind).add();
    return outcome;
  };
  return {
    files: { ...files, addFile: async (...args) => counted('whole', await files.addFile(...args)) },
    uploads: { ...uploads, finishUpload: async (...args) => counted('resumable', await uploads.finishUpload(...args)) },
  };
}

export function meterBlobs(blobs: BlobStore, instruments: Instruments): BlobStore {
  const { running } = instruments;
  const uploadedBytes = instruments.uploadedBytes.with();

  async function measure<T>(operation: FileOperation, work: () => Promise<T>): Promise<T> {
    const startedAt = performance.now();
    running.fileOperations += 1;
    try {
      const result = await work();
      instruments.fileOperations.with(operation).observe(secondsSince(startedAt));
      return result;
    } catch (error) {
      // A full disk is not a failing one.
      if (!hasCode(error, 'STORAGE_FULL')) instruments.fileErrors.with(operation).add();
      throw error;
    } finally {
      running.fileOperations -= 1;
    }
  }

  /** The speed of the client is not that of the store, so the measurement starts when all bytes have arrived. */
  async function receive<T>(operation: 'put' | 'append', { bytes, signal }: Incoming, work: () => Promise<T>) {
    let arrivedAt: number | undefined;
    bytes.once('end', () => {
      arrivedAt = performance.now();
    });
    running.uploads += 1;
    try {
      const result = await work();
      instruments.fileOperations.with(operation).observe(secondsSince(arrivedAt ?? performance.now()));
      return result;
    } catch (error) {
      if (isFailure(error, signal, bytes)) instruments.fileErrors.with(operation).add();
      else instruments.uploadInterruptions.with(operation === 'put' ? 'whole' : 'resumable').add();
      throw error;
    } finally {
      running.uploads -= 1;
    }
  }

  return {
    ...blobs,

    async put(blob, bytes, maxBytes, signal) {
      const size = await receive('put', { bytes, signal }, () => blobs.put(blob, bytes, maxBytes, signal));
      uploadedBytes.add(size);
      return size;
    },

    append(append) {
      let received = append.unfinished.received;
      const onProgress: typeof append.onProgress = (progress) => {
        uploadedBytes.add(progress.received - received);
        received = progress.received;
        return append.onProgress(progress);
      };
      return receive('append', append, () => blobs.append({ ...append, onProgress }));
    },

    finish: (unfinished) => measure('finish', () => blobs.finish(unfinished)),
    open: (blob, range) => measure('open', () => blobs.open(blob, range)),
    size: (blob) => measure('size', () => blobs.size(blob)),
    checkSpace: (bytes) => measure('space', () => blobs.checkSpace(bytes)),
    remove: (name) => measure('remove', () => blobs.remove(name)),
    removeLeftovers: (blob) => measure('remove', () => blobs.removeLeftovers(blob)),
  };
}

type Incoming = Pick<BlobAppend, 'bytes' | 'signal'>;

const secondsSince = (moment: number) => (performance.now() - moment) / 1000;

/** Whether the store failed, and neither the client nor a limit ended the upload. */
function isFailure(error: unknown, signal: AbortSignal, bytes: Readable): boolean {
  if (signal.aborted || error === bytes.errored) return false;
  if (error instanceof PoproomError) return ['UNAVAILABLE', 'STORAGE_FULL', 'INTERNAL'].includes(error.code);
  return bytes.readableEnded || !bytes.destroyed;
}
