/** Every path of the service: the router is built from this table, and so is the OpenAPI document. */
import type { ErrorCode } from './error-codes.ts';
import { resumeToken } from './fields.ts';
import { checkpointVersion, fileId, type Parameter, roomAccess, roomId } from './parameters.ts';
import { resumeHeader } from './resume.ts';
import * as schemas from './schemas.ts';

export interface Success {
  status: number;
  description: string;
  /** JSON, unless `mediaType` says otherwise; neither for a response without a body. */
  schema?: object;
  mediaType?: string;
  /** By the names under which the description explains them. */
  headers?: readonly string[];
  /** For the description, where the one that the schema gives would mislead. */
  example?: unknown;
}

/** The chapters of the description, in their order. */
export const tags = {
  Rooms: 'Make a room, look at it, delete it.',
  Text: 'The one text that the devices of a room share.',
  Files: 'Put files into a room, list them, fetch them, remove them.',
  Live: 'See what happens in a room at once, and write to it.',
  Service: 'How the server is, and what it offers.',
  Page: 'What people see.',
} as const;

export interface Endpoint {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  path: string;
  tag: keyof typeof tags;
  summary: string;
  description: string;
  parameters?: readonly Parameter[];
  /** A JSON body by its schema, or the two forms of an upload. */
  body?: { schema: object; required: boolean } | 'file';
  successes: readonly Success[];
  errors: readonly ErrorCode[];
  /** Whether the request goes into the client's rate limit. */
  counted: boolean;
  /** Answers in any case: where everyone needs a key, and where the counters cannot be reached. */
  alwaysOpen?: true;
  /** Carries no CORS headers: pages of other origins cannot read it. */
  sameOriginOnly?: true;
  /** Whether a resume token keeps the request out of the limit. */
  resumable?: true;
}

const anyRequest = [
  'VALIDATION_FAILED',
  'API_KEY_REQUIRED',
  'INVALID_API_KEY',
  'RATE_LIMITED',
  'INTERNAL',
  'UNAVAILABLE',
] as const;
const anyRoom = [
  ...anyRequest,
  'PIN_REQUIRED',
  'PIN_INCORRECT',
  'PIN_LOCKED',
  'ROOM_NOT_FOUND',
  'ROOM_EXPIRED',
] as const;
const anyBody = ['INVALID_JSON', 'CONTENT_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'] as const;

const anyPage = {
  method: 'GET',
  tag: 'Page',
  errors: ['VALIDATION_FAILED', 'NOT_FOUND', 'INTERNAL'],
  counted: false,
  sameOriginOnly: true,
} as const;
const pageAnswers = [
  {
    status: 200,
    description: 'The page.',
    mediaType: 'text/html',
    headers: ['PageETag'],
    example: '<!doctype html>…',
  },
  { status: 304, description: 'You have the current version.', headers: ['PageETag'] },
] as const;

export const endpoints = {
  createRoom: {
    method: 'POST',
    path: '/api/rooms',
    tag: 'Rooms',
    summary: 'Create a room',
    description:
      'Makes a room, with a PIN and a lifetime if asked; the body may be left out. A room lives 24 hours, or the ' +
      '`expiresIn` seconds that were asked for: 60 to 604,800 (7 days), where the operator has not set another bound.',
    body: { schema: schemas.createRoomRequest, required: false },
    successes: [{ status: 201, description: 'The room was made.', schema: schemas.roomCreated }],
    errors: [...anyRequest, ...anyBody, 'STORAGE_FULL'],
    counted: true,
  },
  getRoom: {
    method: 'GET',
    path: '/api/rooms/:roomId',
    tag: 'Rooms',
    summary: 'Get room information',
    description: 'When the room expires, whether it has a PIN, and how many devices are attached.',
    parameters: roomAccess,
    successes: [{ status: 200, description: 'The room.', schema: schemas.roomInfo }],
    errors: anyRoom,
    counted: true,
  },
  deleteRoom: {
    method: 'DELETE',
    path: '/api/rooms/:roomId',
    tag: 'Rooms',
    summary: 'Delete a room',
    description: 'Removes the room with its text and its files, at once and for good.',
    parameters: roomAccess,
    body: { schema: schemas.pinOnlyRequest, required: false },
    successes: [{ status: 200, description: 'The room was deleted.', schema: schemas.confirmation }],
    errors: [...anyRoom, ...anyBody, 'STORAGE_FULL'],
    counted: true,
  },
  writeContent: {
    method: 'POST',
    path: '/api/rooms/:roomId/content',
    tag: 'Text',
    summary: 'Update room content',
    description:
      'Replaces the text of the room, by at most 1 MiB of UTF-8. When this is answered, the text is on the disk. Each ' +
      'write makes the next version, which `ETag` names.',
    parameters: [
      ...roomAccess,
      {
        name: 'If-Match',
        in: 'header',
        description:
          'The version that this text is based on; if another was written meanwhile, nothing is overwritten.',
        example: '"6"',
      },
    ],
    body: { schema: schemas.writeContentRequest, required: true },
    successes: [
      { status: 200, description: 'The text was stored.', schema: schemas.contentWritten, headers: ['ETag'] },
    ],
    errors: [...anyRoom, ...anyBody, 'VERSION_CONFLICT', 'QUOTA_EXCEEDED', 'STORAGE_FULL'],
    counted: true,
  },
  readContent: {
    method: 'GET',
    path: '/api/rooms/:roomId/content',
    tag: 'Text',
    summary: 'Get room content',
    description: 'The current text. Before the first write it is empty.',
    parameters: [
      ...roomAccess,
      { name: 'If-None-Match', in: 'header', description: 'The version that you have.', example: '"7"' },
    ],
    successes: [
      { status: 200, description: 'The text.', schema: schemas.contentRead, headers: ['ETag'] },
      { status: 304, description: 'You have the current version.', headers: ['ETag'] },
    ],
    errors: anyRoom,
    counted: true,
  },
  editContent: {
    method: 'PATCH',
    path: '/api/rooms/:roomId/content',
    tag: 'Text',
    summary: 'Edit room content',
    description:
      'Changes parts of the text, or adds to its end, without sending the whole. `edits` replace ranges of the version ' +
      '`baseVersion`, in UTF-16 code units; if the text has changed since, they are rebased and nothing is lost. ' +
      'Send either `edits` or `append`.',
    parameters: [
      ...roomAccess,
      {
        name: 'If-Match',
        in: 'header',
        description: 'Edit only if this is the current version.',
        example: '"6"',
      },
    ],
    body: { schema: schemas.editContentRequest, required: true },
    successes: [{ status: 200, description: 'The edit was stored.', schema: schemas.contentEdited, headers: ['ETag'] }],
    errors: [...anyRoom, ...anyBody, 'VERSION_CONFLICT', 'QUOTA_EXCEEDED', 'STORAGE_FULL'],
    counted: true,
  },
  listHistory: {
    method: 'GET',
    path: '/api/rooms/:roomId/history',
    tag: 'Text',
    summary: 'List earlier texts',
    description:
      'Checkpoints of the text, newest first: one after 30 seconds of change, and one before every large removal or ' +
      'replacement. A room keeps at most 50, and 4 MiB of them. To restore one, write it as the new text.',
    parameters: roomAccess,
    successes: [{ status: 200, description: 'The checkpoints.', schema: schemas.historyList }],
    errors: anyRoom,
    counted: true,
  },
  readHistory: {
    method: 'GET',
    path: '/api/rooms/:roomId/history/:version',
    tag: 'Text',
    summary: 'Get an earlier text',
    description: 'The text of a checkpoint.',
    parameters: [...roomAccess, checkpointVersion],
    successes: [{ status: 200, description: 'The text of that version.', schema: schemas.historyText }],
    errors: [...anyRoom, 'NOT_FOUND'],
    counted: true,
  },
  clearHistory: {
    method: 'DELETE',
    path: '/api/rooms/:roomId/history',
    tag: 'Text',
    summary: 'Delete the history',
    description: 'Erases all checkpoints of the room, and the log of its edits. The current text stays.',
    parameters: roomAccess,
    body: { schema: schemas.pinOnlyRequest, required: false },
    successes: [
      {
        status: 200,
        description: 'The history was deleted.',
        schema: schemas.confirmation,
        example: { success: true, message: 'The history was deleted.' },
      },
    ],
    errors: [...anyRoom, ...anyBody, 'STORAGE_FULL'],
    counted: true,
  },
  uploadFile: {
    method: 'POST',
    path: '/api/rooms/:roomId/upload',
    tag: 'Files',
    summary: 'Upload a file to a room',
    description:
      'One file of at most 10 MiB: as a form with the part `file` (and, before it, the PIN as `pin` where it is not in ' +
      'a header), or as the bare bytes with `Content-Type` and a name.',
    parameters: [
      ...roomAccess,
      {
        name: 'X-File-Name',
        in: 'header',
        description: 'The name of a bare file, as percent-encoded UTF-8.',
        example: 'caf%C3%A9.txt',
      },
      {
        name: 'fileName',
        in: 'query',
        description: 'The name of a bare file, instead of the header.',
        example: 'a.txt',
      },
    ],
    body: 'file',
    successes: [{ status: 201, description: 'The file was stored.', schema: schemas.fileUploaded }],
    errors: [...anyRoom, 'FILE_TOO_LARGE', 'ROOM_FULL', 'QUOTA_EXCEEDED', 'UNSUPPORTED_MEDIA_TYPE', 'STORAGE_FULL'],
    counted: true,
  },
  listFiles: {
    method: 'GET',
    path: '/api/rooms/:roomId/files',
    tag: 'Files',
    summary: 'List the files of a room',
    description: 'Oldest first.',
    parameters: roomAccess,
    successes: [{ status: 200, description: 'The files.', schema: schemas.fileList }],
    errors: anyRoom,
    counted: true,
  },
  removeFile: {
    method: 'DELETE',
    path: '/api/rooms/:roomId/files/:fileId',
    tag: 'Files',
    summary: 'Remove a file from a room',
    description: 'Its address is dead from then on.',
    parameters: [...roomAccess, fileId],
    body: { schema: schemas.pinOnlyRequest, required: false },
    successes: [
      {
        status: 200,
        description: 'The file was removed.',
        schema: schemas.confirmation,
        example: { success: true, message: 'The file was removed.' },
      },
    ],
    errors: [...anyRoom, ...anyBody, 'FILE_NOT_FOUND', 'STORAGE_FULL'],
    counted: true,
  },
  roomEvents: {
    method: 'GET',
    path: '/api/rooms/:roomId/events',
    tag: 'Live',
    summary: 'Follow a room by server-sent events',
    description:
      'A stream of everything that happens in the room, first of all a `snapshot`: for `curl -N` and `EventSource`. ' +
      'The messages are described in /api/asyncapi.json. Opening the stream counts as one request, unless it resumes one.',
    parameters: [
      ...roomAccess,
      { name: 'deviceId', in: 'query', description: 'Instead of the header X-Device-Id.', example: 'my-phone' },
      { name: 'deviceName', in: 'query', description: 'A name for people.', example: 'Chrome on Android' },
      {
        name: 'Last-Event-ID',
        in: 'header',
        description: 'The seq that you have; you get a snapshot only if you missed something.',
        example: '12',
      },
      {
        name: resumeHeader,
        in: 'header',
        description:
          'The newest `resumeToken` of a stream of this room that ended at most 10 minutes ago: opening this one then does ' +
          'not count, is not refused for a limit, and needs no PIN.',
        example: resumeToken.examples[0],
      },
    ],
    successes: [
      {
        status: 200,
        description: 'The stream, until you leave.',
        mediaType: 'text/event-stream',
        example:
          'id: 4\nevent: content\ndata: {"type":"content","seq":4,"content":"Hello","version":4,"timestamp":"2026-11-15T09:30:00.000Z"}\n\n',
      },
    ],
    errors: anyRoom,
    counted: true,
    resumable: true,
  },
  liveChannel: {
    method: 'GET',
    path: '/api/rooms/:roomId/live',
    tag: 'Live',
    summary: 'Join a room by WebSocket',
    description:
      'Both ways. The first message is `join`, within 5 seconds, so that no PIN stands in an address. The messages are ' +
      'described in /api/asyncapi.json. Opening the channel counts as one request, its messages do not. To resume a ' +
      'channel that ended at most 10 minutes ago, offer the subprotocols `poproom` and `resume.` followed by its newest ' +
      '`resumeToken`: opening this one then does not count, is not refused for a limit, and needs no PIN.',
    parameters: [roomId],
    successes: [{ status: 101, description: 'The channel is open: send `join`.' }],
    errors: anyRequest,
    counted: true,
  },
  health: {
    method: 'GET',
    path: '/api/health',
    tag: 'Service',
    summary: 'Check service health',
    description: 'Whether the service and its stores answer. Counts like every request under /api; probes use /readyz.',
    successes: [
      { status: 200, description: 'All is well.', schema: schemas.healthReport },
      {
        status: 503,
        description: 'A store does not answer: `status` is `degraded`.',
        schema: schemas.healthReport,
        example: { status: 'degraded', timestamp: '2026-11-15T09:30:00.000Z', uptime: 86_400.123 },
      },
    ],
    errors: ['VALIDATION_FAILED', 'INVALID_API_KEY', 'RATE_LIMITED', 'INTERNAL'],
    counted: true,
    alwaysOpen: true,
  },
  openapi: {
    method: 'GET',
    path: '/api/openapi.json',
    tag: 'Service',
    summary: 'This description',
    description: 'The OpenAPI document of the service.',
    successes: [{ status: 200, description: 'The document.', schema: schemas.apiDescription }],
    errors: anyRequest,
    counted: true,
  },
  asyncapi: {
    method: 'GET',
    path: '/api/asyncapi.json',
    tag: 'Service',
    summary: 'The description of the live channel',
    description: 'The AsyncAPI document of the service.',
    successes: [{ status: 200, description: 'The document.', schema: schemas.liveDescription }],
    errors: anyRequest,
    counted: true,
  },
  serveFile: {
    method: 'GET',
    path: '/files/:fileId/:name',
    tag: 'Files',
    summary: 'Download a file',
    description:
      'The address is the right to read; it is what `fileUrl` says. Images, audio, video, PDF and plain text open in ' +
      'the browser, everything else is an attachment.',
    parameters: [
      fileId,
      { name: 'name', in: 'path', required: true, description: 'For people only.', example: 'photo.jpg' },
      { name: 'download', in: 'query', description: 'Whatever its value: to be saved, not shown.', example: '1' },
      { name: 'Range', in: 'header', description: 'One range of bytes.', example: 'bytes=0-1023' },
      { name: 'If-Range', in: 'header', description: 'Ask for the part only of this version.', example: '"9f86d081"' },
      { name: 'If-None-Match', in: 'header', description: 'The version that you have.', example: '"9f86d081"' },
    ],
    successes: [
      { status: 200, description: 'The bytes.', mediaType: '*/*', headers: ['FileETag', 'Content-Disposition'] },
      {
        status: 206,
        description: 'A part of them.',
        mediaType: '*/*',
        headers: ['FileETag', 'Content-Disposition', 'Content-Range'],
      },
      { status: 304, description: 'You have the current version.', headers: ['FileETag'] },
      {
        status: 416,
        description: 'The file has no such range; the code is `VALIDATION_FAILED`.',
        schema: schemas.errorBody,
        headers: ['UnmetRange'],
        example: {
          success: false,
          error: { code: 'VALIDATION_FAILED', message: 'The file has only 34567 bytes.', details: { field: 'Range' } },
          requestId: 'pZ3kVw8q-2s',
        },
      },
    ],
    errors: ['VALIDATION_FAILED', 'FILE_NOT_FOUND', 'INTERNAL', 'UNAVAILABLE'],
    counted: false,
  },
  docs: {
    method: 'GET',
    path: '/docs',
    tag: 'Service',
    summary: 'Read this description',
    description: 'The same as a page.',
    successes: [{ status: 200, description: 'The page.', mediaType: 'text/html', example: '<!doctype html>…' }],
    errors: ['VALIDATION_FAILED', 'INTERNAL'],
    counted: false,
    sameOriginOnly: true,
  },
  live: {
    method: 'GET',
    path: '/livez',
    tag: 'Service',
    summary: 'Does the process run?',
    description: 'For a supervisor: restart the server when this does not answer.',
    successes: [{ status: 200, description: 'It does.', schema: schemas.probe }],
    errors: ['VALIDATION_FAILED', 'INTERNAL'],
    counted: false,
  },
  ready: {
    method: 'GET',
    path: '/readyz',
    tag: 'Service',
    summary: 'Can it serve?',
    description:
      'For a load balancer: the stores answer, the disk has room for texts, the sweep is not late. `uploads` is `full` when there is no room for files; texts still work then, and the server is ready.',
    successes: [
      { status: 200, description: 'It can.', schema: schemas.readiness },
      {
        status: 503,
        description: 'It cannot; `checks` says why.',
        schema: schemas.readiness,
        example: {
          status: 'not ready',
          checks: { store: 'ok', files: 'ok', disk: 'failing', uploads: 'full', sweep: 'ok', server: 'ok' },
        },
      },
    ],
    errors: ['VALIDATION_FAILED', 'INTERNAL'],
    counted: false,
  },
  metrics: {
    method: 'GET',
    path: '/metrics',
    tag: 'Service',
    summary: 'Figures for Prometheus',
    description: 'Only with `POPROOM_METRICS=true`.',
    successes: [
      {
        status: 200,
        description: 'The figures.',
        mediaType: 'text/plain',
        example: '# HELP poproom_rooms Rooms that have not expired.\n# TYPE poproom_rooms gauge\npoproom_rooms 42\n',
      },
    ],
    errors: ['VALIDATION_FAILED', 'NOT_FOUND', 'INTERNAL'],
    counted: false,
    sameOriginOnly: true,
  },
  home: {
    ...anyPage,
    path: '/',
    summary: 'Open the page',
    description: 'Where people make a room or enter one.',
    successes: pageAnswers,
  },
  roomPage: {
    ...anyPage,
    path: '/r/:roomId',
    summary: 'Open the page in a room',
    description: 'The same page, whether there is such a room or not: it finds out by itself.',
    parameters: [roomId],
    successes: pageAnswers,
  },
  sharePage: {
    ...anyPage,
    path: '/share',
    summary: 'Share to the page',
    description: 'The same page, where a device leads that shares something with Poproom.',
    successes: pageAnswers,
  },
  pageAsset: {
    ...anyPage,
    path: '/assets/:name',
    summary: 'What the page is made of',
    description: 'Its scripts, styles and icons, compressed as `Accept-Encoding` allows.',
    parameters: [
      { name: 'name', in: 'path', required: true, description: 'As the page names it.', example: 'icon.svg' },
    ],
    successes: [
      { status: 200, description: 'The file.', mediaType: '*/*', headers: ['PageETag'] },
      { status: 304, description: 'You have the current version.', headers: ['PageETag'] },
    ],
  },
} as const satisfies Record<string, Endpoint>;

export type EndpointName = keyof typeof endpoints;
