/** The counters and histograms that the server updates while it works. */
import { PoproomError } from '../core/errors.ts';
import type { LiveMeter } from '../core/live-gateway.ts';
import type { WebhookSender } from '../core/ports/webhooks.ts';
import { errorCodes, webhookErrors } from '../protocol/error-codes.ts';
import { definitions } from './definitions.ts';
import { Counter, type Distribution, Histogram } from './family.ts';

/** `admit` checks access, `count` counts requests and bytes, and `sweep` removes what has expired. */
const storeOperations = ['admit', 'read', 'write', 'count', 'sweep'] as const;
export type StoreOperation = (typeof storeOperations)[number];

/** The kinds of file operations that the metrics distinguish. */
const fileOperations = ['put', 'append', 'finish', 'open', 'size', 'space', 'remove'] as const;
export type FileOperation = (typeof fileOperations)[number];
/** A file that arrives in one request, or in several. */
export type UploadKind = 'whole' | 'resumable';

export type Instruments = ReturnType<typeof createInstruments>;

export function createInstruments() {
  const instruments = {
    requests: new Histogram(definitions.requests),
    refusals: new Counter(definitions.refusals),
    sweepFailures: new Counter(definitions.sweepFailures),
    channelsOpened: new Counter(definitions.channelsOpened),
    channelDurations: new Histogram(definitions.channelDurations),
    messages: new Histogram(definitions.messages),
    divergences: new Counter(definitions.divergences),
    storeOperations: new Histogram(definitions.storeOperations),
    storeErrors: new Counter(definitions.storeErrors),
    uploads: new Counter(definitions.uploads),
    uploadedBytes: new Counter(definitions.uploadedBytes),
    uploadInterruptions: new Counter(definitions.uploadInterruptions),
    fileOperations: new Histogram(definitions.fileOperations),
    fileErrors: new Counter(definitions.fileErrors),
    webhookAttempts: new Counter(definitions.webhookAttempts),
    loopDelay: new Histogram(definitions.loopDelay),
  };
  createSeries(instruments);
  /** Read by gauges. */
  const running = { uploads: 0, fileOperations: 0 };
  return { ...instruments, running };
}

/** Starts at 0, because Prometheus does not see an increase in the first value of a series. */
function createSeries(instruments: Omit<Instruments, 'running'>): void {
  const { refusals, sweepFailures, channelsOpened, loopDelay } = instruments;
  for (const code of Object.keys(errorCodes)) refusals.with('http', code, '');
  for (const result of ['delivered', ...Object.keys(webhookErrors)]) instruments.webhookAttempts.with(result);
  for (const transport of ['websocket', 'events', 'poll']) channelsOpened.with(transport);
  for (const operation of storeOperations) {
    instruments.storeOperations.with(operation);
    instruments.storeErrors.with(operation);
  }
  for (const operation of fileOperations) {
    instruments.fileOperations.with(operation);
    instruments.fileErrors.with(operation);
  }
  for (const kind of ['whole', 'resumable'] satisfies UploadKind[]) {
    instruments.uploads.with(kind);
    instruments.uploadInterruptions.with(kind);
  }
  for (const single of [sweepFailures, instruments.divergences, instruments.uploadedBytes, loopDelay]) single.with();
}

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

/** A request that is not well-formed HTTP. */
export function countMalformed({ refusals }: Instruments): void {
  refusals.with('http', 'VALIDATION_FAILED', 'malformed').add();
}

/** A response that the server could not finish. Its status was successful. */
export function countBroken({ refusals }: Instruments): void {
  refusals.with('http', 'INTERNAL', 'response').add();
}

/** The limits that share an error code, named in its details: limits of rates, and those of storage. */
const reasons: readonly unknown[] = ['requests', 'misses', 'devices', 'channels', 'messages', 'work'];
const scopes: readonly unknown[] = ['client', 'network', 'total'];

function reasonOf(error: unknown): string {
  const { reason, scope } = (error instanceof PoproomError && error.details) || {};
  const named = reason ?? scope;
  return reasons.includes(named) || scopes.includes(named) ? String(named) : '';
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
