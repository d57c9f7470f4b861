/** All metrics of the server, and how they are counted and written in the text format of Prometheus. */
import type { MaybePromise } from '../core/ports/basics.ts';

/** Every value of a label must come from a fixed set: series are never removed. */
const gauge = (name: string, help: string, labels: readonly string[] = []) =>
  ({ name, type: 'gauge', labels, help }) as const;

const counter = (name: string, help: string, labels: readonly string[] = []) =>
  ({ name, type: 'counter', labels, help }) as const;

const histogram = (name: string, buckets: readonly number[], help: string, labels: readonly string[] = []) =>
  ({ name, type: 'histogram', labels, help, buckets }) as const;

const seconds = [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10];

/** The table in docs/monitoring.md is generated from this one. */
export const definitions = {
  buildInfo: gauge('poproom_build_info', 'Always 1. The version of the server, and where it keeps rooms and files.', [
    'version',
    'store',
    'files',
  ]),
  ready: gauge('poproom_readiness_check', '1 if this check of /readyz passes, otherwise 0.', ['check']),
  unreadable: gauge(
    'poproom_unreadable_metrics',
    'Metrics that are missing from this response, because a store or a disk did not respond.',
  ),

  requests: histogram(
    'poproom_http_request_duration_seconds',
    seconds,
    'Time from the head of a request to the start of its response. Uploads include the time in which the client sends.',
    ['method', 'route', 'status'],
  ),
  connections: gauge('poproom_http_connections', 'Open TCP connections, including live channels and idle ones.'),
  refusals: counter(
    'poproom_refusals_total',
    'Requests and live messages that were answered with an error, by error code. The reason names the limit.',
    ['transport', 'code', 'reason'],
  ),

  rooms: gauge('poproom_rooms', 'Rooms that have not expired.'),
  lastSweep: gauge('poproom_last_sweep_timestamp_seconds', 'When the last complete sweep of expired rooms ended.'),
  sweepFailures: counter('poproom_sweep_failures_total', 'Sweeps that failed.'),

  channels: gauge('poproom_live_channels', 'Open live channels.'),
  channelsOpened: counter('poproom_live_channels_opened_total', 'Live channels that have joined a room.', [
    'transport',
  ]),
  channelDurations: histogram(
    'poproom_live_channel_duration_seconds',
    [1, 10, 60, 600, 3600, 21_600, 86_400],
    'How long closed live channels were open, by the reason of their end.',
    ['transport', 'reason'],
  ),
  messages: histogram(
    'poproom_live_message_duration_seconds',
    seconds,
    'Time from the arrival of a live message until it has been handled, by type.',
    ['type'],
  ),
  divergences: counter(
    'poproom_text_divergences_total',
    'Live clients whose text did not match that of the server, and that loaded it again. Expected to stay 0.',
  ),

  storeOperations: histogram(
    'poproom_store_operation_duration_seconds',
    [0.0001, 0.0005, 0.002, 0.01, 0.05, 0.2, 1, 5],
    'Duration of operations on SQLite or Redis.',
    ['operation'],
  ),
  storeErrors: counter('poproom_store_errors_total', 'Operations on SQLite or Redis that failed.', ['operation']),
  databaseBytes: gauge(
    'poproom_database_bytes',
    'Size of the SQLite database on disk, including its log. Missing with Redis.',
  ),

  uploads: counter('poproom_uploads_total', 'Files that were stored, in one request or by a resumable upload.', [
    'kind',
  ]),
  uploadedBytes: counter('poproom_uploaded_bytes_total', 'Bytes of files that were received and stored.'),
  uploadInterruptions: counter(
    'poproom_upload_interruptions_total',
    'Requests with bytes of a file that the client or a limit ended early.',
    ['kind'],
  ),
  uploadsInProgress: gauge('poproom_uploads_in_progress', 'Requests that are sending bytes of a file.'),
  fileOperations: histogram(
    'poproom_file_operation_duration_seconds',
    [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 60],
    'Duration of operations on the folder or the bucket of files. For put and append, from the last byte until all are durable.',
    ['operation'],
  ),
  fileErrors: counter('poproom_file_errors_total', 'Operations on the folder or the bucket of files that failed.', [
    'operation',
  ]),
  storedBytes: gauge('poproom_stored_bytes', 'Bytes of all files, stored and reserved for uploads in progress.', [
    'state',
  ]),
  storedBytesLimit: gauge('poproom_stored_bytes_limit', 'Maximum bytes of all files together; 0 means no limit.'),
  diskFree: gauge('poproom_disk_free_bytes', 'Bytes that the server can still write on the disk of a folder.', [
    'folder',
  ]),
  diskSize: gauge('poproom_disk_size_bytes', 'Size of the disk of a folder.', ['folder']),

  webhookAttempts: counter(
    'poproom_webhook_attempts_total',
    'Requests to webhooks, by their result: delivered, or the code of the error.',
    ['result'],
  ),

  queues: gauge(
    'poproom_queue_length',
    'Operations that wait for the store, for files, or for their turn because they are large; rooms with events for webhooks.',
    ['queue'],
  ),
  heldBytes: gauge(
    'poproom_held_bytes',
    'Memory of incomplete bodies, unread responses, downloads, zip archives and unread live messages.',
    ['kind'],
  ),
  heldBytesLimit: gauge(
    'poproom_held_bytes_limit',
    'Maximum of poproom_held_bytes. Beyond it, slow transfers end, and requests are refused with UNAVAILABLE.',
    ['kind'],
  ),
  loopDelay: histogram(
    'poproom_event_loop_delay_seconds',
    [0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 5],
    'How late a timer fires that is due every 0.1 seconds.',
  ),
  loopActive: counter(
    'poproom_event_loop_active_seconds_total',
    'Time in which the event loop was busy. A rate of 1 means that it is never idle.',
  ),
  clientWork: counter(
    'poproom_client_work_seconds_total',
    'Time for parsing, rebasing, comparing, encoding and compressing texts, which POPROOM_WORK_LIMIT limits per client.',
  ),
  certificateExpiry: gauge(
    'poproom_tls_certificate_expiry_timestamp_seconds',
    'When the certificate expires. Missing without POPROOM_TLS_CERT.',
  ),
  logLinesLost: counter('poproom_log_lines_lost_total', 'Log lines that could not be written.'),
} as const satisfies Record<string, Definition>;

export type MetricKey = keyof typeof definitions;

export interface Definition {
  name: string;
  type: 'counter' | 'gauge' | 'histogram' | 'untyped';
  help: string;
  /** Every value must come from a fixed set: series are never removed. */
  labels: readonly string[];
  /** Upper bounds of a histogram, in ascending order. */
  buckets?: readonly number[];
}

/** One metric with all its series. Throws or rejects if it cannot be read. */
export type Source = { lines(): MaybePromise<string[]> };

/** The values of one combination of labels. */
type Series = { lines(name: string, labels: string): string[] };

class Count implements Series {
  #value = 0;

  add(amount = 1): void {
    this.#value += amount;
  }

  lines(name: string, labels: string): string[] {
    return [line(name, labels, this.#value)];
  }
}

/** How many values are at most as large as each bound. */
export class Distribution implements Series {
  readonly #bounds: readonly number[];
  readonly #counts: number[];
  #sum = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = new Array(bounds.length + 1).fill(0);
  }

  observe(value: number): void {
    let bucket = 0;
    while (bucket < this.#bounds.length && value > (this.#bounds[bucket] as number)) bucket += 1;
    this.#counts[bucket] = (this.#counts[bucket] as number) + 1;
    this.#sum += value;
  }

  lines(name: string, labels: string): string[] {
    const others = labels === '' ? '' : `${labels},`;
    let total = 0;
    const buckets = this.#counts.map((count, i) => {
      total += count;
      return `${name}_bucket{${others}le="${this.#bounds[i] ?? '+Inf'}"} ${total}`;
    });
    return [...buckets, line(`${name}_sum`, labels, this.#sum), line(`${name}_count`, labels, total)];
  }
}

abstract class Family<S extends Series> implements Source {
  readonly definition: Definition;
  readonly #series = new Map<string, { labels: string; series: S }>();

  /** The labels of series that start at 0: Prometheus does not see an increase in the first value of a series. */
  constructor(definition: Definition, initial: readonly (readonly string[])[] = []) {
    this.definition = definition;
    for (const values of initial) this.with(...values);
  }

  /** The series with these values of the labels. Keep it if you use it often. */
  with(...values: string[]): S {
    // Values come from the source code, and contain no spaces.
    const key = values.join(' ');
    const known = this.#series.get(key);
    if (known) return known.series;
    const series = this.create();
    this.#series.set(key, { labels: labelText(this.definition.labels, values), series });
    return series;
  }

  lines(): string[] {
    return [...this.#series.values()].flatMap(({ labels, series }) => series.lines(this.definition.name, labels));
  }

  protected abstract create(): S;
}

export class Counter extends Family<Count> {
  protected create(): Count {
    return new Count();
  }
}

export class Histogram extends Family<Distribution> {
  protected create(): Distribution {
    return new Distribution(this.definition.buckets ?? []);
  }
}

/** A number, or one for each combination of label values. Undefined or empty if this server does not have it. */
export type Reading = number | undefined | readonly (readonly [labels: readonly string[], value: number])[];

/** A metric that is read when Prometheus asks for it. */
export const sample = (definition: Definition, read: () => MaybePromise<Reading>): Source => ({
  lines: async () => linesOf(definition, await read()),
});

export function linesOf({ name, labels }: Definition, reading: Reading): string[] {
  if (reading === undefined) return [];
  if (typeof reading === 'number') return [line(name, '', reading)];
  return reading.map(([values, value]) => line(name, labelText(labels, values), value));
}

/** A metric without series is left out. */
export const textOf = ({ name, type, help }: Definition, lines: readonly string[]): string =>
  lines.length === 0 ? '' : `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('\n')}\n`;

const line = (name: string, labels: string, value: number) =>
  labels === '' ? `${name} ${value}` : `${name}{${labels}} ${value}`;

const labelText = (names: readonly string[], values: readonly string[]): string =>
  names.map((name, i) => `${name}="${escaped(values[i] ?? '')}"`).join(',');

const escaped = (value: string) =>
  value.replace(/[\\"\n]/g, (character) => (character === '\n' ? '\\n' : `\\${character}`));
