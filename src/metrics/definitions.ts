/** All metrics of the server. The table in docs/monitoring.md is generated from this one. */
import type { Definition } from './family.ts';

const seconds = [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10];

export const definitions = {
  buildInfo: {
    name: 'poproom_build_info',
    type: 'gauge',
    labels: ['version', 'store', 'files'],
    help: 'Always 1. The version of the server, and where it keeps rooms and files.',
  },
  ready: {
    name: 'poproom_readiness_check',
    type: 'gauge',
    labels: ['check'],
    help: '1 if this check of /readyz passes, otherwise 0.',
  },
  unreadable: {
    name: 'poproom_unreadable_metrics',
    type: 'gauge',
    labels: [],
    help: 'Metrics that are missing from this response, because a store or a disk did not respond.',
  },

  requests: {
    name: 'poproom_http_request_duration_seconds',
    type: 'histogram',
    labels: ['method', 'route', 'status'],
    help: 'Time from the head of a request to the start of its response. Uploads include the time in which the client sends.',
    buckets: seconds,
  },
  connections: {
    name: 'poproom_http_connections',
    type: 'gauge',
    labels: [],
    help: 'Open TCP connections, including live channels and idle ones.',
  },
  refusals: {
    name: 'poproom_refusals_total',
    type: 'counter',
    labels: ['transport', 'code', 'reason'],
    help: 'Requests and live messages that were answered with an error, by error code. The reason names the limit.',
  },

  rooms: { name: 'poproom_rooms', type: 'gauge', labels: [], help: 'Rooms that have not expired.' },
  lastSweep: {
    name: 'poproom_last_sweep_timestamp_seconds',
    type: 'gauge',
    labels: [],
    help: 'When the last complete sweep of expired rooms ended.',
  },
  sweepFailures: { name: 'poproom_sweep_failures_total', type: 'counter', labels: [], help: 'Sweeps that failed.' },

  channels: { name: 'poproom_live_channels', type: 'gauge', labels: [], help: 'Open live channels.' },
  channelsOpened: {
    name: 'poproom_live_channels_opened_total',
    type: 'counter',
    labels: ['transport'],
    help: 'Live channels that have joined a room.',
  },
  channelDurations: {
    name: 'poproom_live_channel_duration_seconds',
    type: 'histogram',
    labels: ['transport', 'reason'],
    help: 'How long closed live channels were open, by the reason of their end.',
    buckets: [1, 10, 60, 600, 3600, 21_600, 86_400],
  },
  messages: {
    name: 'poproom_live_message_duration_seconds',
    type: 'histogram',
    labels: ['type'],
    help: 'Time from the arrival of a live message until it has been handled, by type.',
    buckets: seconds,
  },
  divergences: {
    name: 'poproom_text_divergences_total',
    type: 'counter',
    labels: [],
    help: 'Live clients whose text did not match that of the server, and that loaded it again. Expected to stay 0.',
  },

  storeOperations: {
    name: 'poproom_store_operation_duration_seconds',
    type: 'histogram',
    labels: ['operation'],
    help: 'Duration of operations on SQLite or Redis.',
    buckets: [0.0001, 0.0005, 0.002, 0.01, 0.05, 0.2, 1, 5],
  },
  storeErrors: {
    name: 'poproom_store_errors_total',
    type: 'counter',
    labels: ['operation'],
    help: 'Operations on SQLite or Redis that failed.',
  },
  databaseBytes: {
    name: 'poproom_database_bytes',
    type: 'gauge',
    labels: [],
    help: 'Size of the SQLite database on disk, including its log. Missing with Redis.',
  },

  uploads: {
    name: 'poproom_uploads_total',
    type: 'counter',
    labels: ['kind'],
    help: 'Files that were stored, in one request or by a resumable upload.',
  },
  uploadedBytes: {
    name: 'poproom_uploaded_bytes_total',
    type: 'counter',
    labels: [],
    help: 'Bytes of files that were received and stored.',
  },
  uploadInterruptions: {
    name: 'poproom_upload_interruptions_total',
    type: 'counter',
    labels: ['kind'],
    help: 'Requests with bytes of a file that the client or a limit ended early.',
  },
  uploadsInProgress: {
    name: 'poproom_uploads_in_progress',
    type: 'gauge',
    labels: [],
    help: 'Requests that are sending bytes of a file.',
  },
  fileOperations: {
    name: 'poproom_file_operation_duration_seconds',
    type: 'histogram',
    labels: ['operation'],
    help: 'Duration of operations on the folder or the bucket of files. For put and append, from the last byte until all are durable.',
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 60],
  },
  fileErrors: {
    name: 'poproom_file_errors_total',
    type: 'counter',
    labels: ['operation'],
    help: 'Operations on the folder or the bucket of files that failed.',
  },
  storedBytes: {
    name: 'poproom_stored_bytes',
    type: 'gauge',
    labels: ['state'],
    help: 'Bytes of all files, stored and reserved for uploads in progress.',
  },
  storedBytesLimit: {
    name: 'poproom_stored_bytes_limit',
    type: 'gauge',
    labels: [],
    help: 'Maximum bytes of all files together; 0 means no limit.',
  },
  diskFree: {
    name: 'poproom_disk_free_bytes',
    type: 'gauge',
    labels: ['folder'],
    help: 'Bytes that the server can still write on the disk of a folder.',
  },
  diskSize: {
    name: 'poproom_disk_size_bytes',
    type: 'gauge',
    labels: ['folder'],
    help: 'Size of the disk of a folder.',
  },

  webhookAttempts: {
    name: 'poproom_webhook_attempts_total',
    type: 'counter',
    labels: ['result'],
    help: 'Requests to webhooks, by their result: delivered, or the code of the error.',
  },

  queues: {
    name: 'poproom_queue_length',
    type: 'gauge',
    labels: ['queue'],
    help: 'Operations that wait for the store, for files, or for their turn because they are large; rooms with events for webhooks.',
  },
  heldBytes: {
    name: 'poproom_held_bytes',
    type: 'gauge',
    labels: ['kind'],
    help: 'Memory of incomplete bodies, unread responses, downloads, zip archives and unread live messages.',
  },
  heldBytesLimit: {
    name: 'poproom_held_bytes_limit',
    type: 'gauge',
    labels: ['kind'],
    help: 'Maximum of poproom_held_bytes. Beyond it, slow transfers end, and requests are refused with UNAVAILABLE.',
  },
  loopDelay: {
    name: 'poproom_event_loop_delay_seconds',
    type: 'histogram',
    labels: [],
    help: 'How late a timer fires that is due every 0.1 seconds.',
    buckets: [0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 5],
  },
  loopActive: {
    name: 'poproom_event_loop_active_seconds_total',
    type: 'counter',
    labels: [],
    help: 'Time in which the event loop was busy. A rate of 1 means that it is never idle.',
  },
  clientWork: {
    name: 'poproom_client_work_seconds_total',
    type: 'counter',
    labels: [],
    help: 'Time for parsing, rebasing, comparing, encoding and compressing texts, which POPROOM_WORK_LIMIT limits per client.',
  },
  certificateExpiry: {
    name: 'poproom_tls_certificate_expiry_timestamp_seconds',
    type: 'gauge',
    labels: [],
    help: 'When the certificate expires. Missing without POPROOM_TLS_CERT.',
  },
  logLinesLost: {
    name: 'poproom_log_lines_lost_total',
    type: 'counter',
    labels: [],
    help: 'Log lines that could not be written.',
  },
} as const satisfies Record<string, Definition>;

export type MetricKey = keyof typeof definitions;
