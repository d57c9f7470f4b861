/** All endpoints. The router and the documentation are built from this table. */
import type { ErrorCode } from './error-codes.ts';
import { resumeToken } from './fields.ts';
import {
  checkpointVersion,
  claim,
  fileId,
  type Parameter,
  roomAccess,
  roomId,
  selectedFiles,
  ticketQuery,
  tusResumable,
  uploadChecksum,
  uploadId,
  uploadLength,
  uploadMetadata,
  uploadOffset,
} from './parameters.ts';
import { resumeHeader } from './resume.ts';
import * as schemas from './schemas.ts';

export interface Success {
  status: number;
  description: string;
  /** For JSON; `mediaType` is for other types. A response without a body has neither. */
  schema?: object;
  mediaType?: string;
  /** Names in `scripts/openapi/headers.ts`. */
  headers?: readonly string[];
  /** Replaces the example of the schema. */
  example?: unknown;
}

/** The chapters of the documentation, in order. */
export const tags = {
  Rooms: 'Create, read, change and delete rooms.',
  Text: 'The text that all devices in a room share.',
  Files: 'Upload, list, download and remove files.',
  Live: 'Receive changes in a room as they happen, and write to it.',
  Service: 'Server status and documentation.',
  Page: 'The web page.',
} as const;

export interface Endpoint {
  method: 'GET' | 'HEAD' | 'POST' | 'PATCH' | 'DELETE';
  path: string;
  tag: keyof typeof tags;
  summary: string;
  /** In Markdown, with limits as `{{textSize}}`: see `LimitPhrases`. */
  description: string;
  parameters?: readonly Parameter[];
  /** A JSON body by its schema, the two forms of an upload, or bytes of a resumable upload. */
  body?: { schema: object; required: boolean } | 'file' | 'bytes';
  successes: readonly Success[];
  errors: readonly ErrorCode[];
  /** Whether the request counts against the client's rate limit. */
  counted: boolean;
  /** Whether a counted request does not use up the limit, and works when it is used up. */
  free?: true;
  /** Works without a required key, and while the counters are unavailable. */
  alwaysOpen?: true;
  /** Sends no CORS headers, so that pages of other origins cannot read it. */
  sameOriginOnly?: true;
  /** Whether a request with a resume token does not count. */
  resumable?: true;
  /** Whether a ticket in the query replaces the PIN and the API key. A request with a ticket does not count. */
  acceptsTicket?: true;
  /** Whether it is part of the tus protocol. */
  isTus?: true;
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

const tusErrors = ['UNSUPPORTED_VERSION'] as const;

const anyPage = {
  method: 'GET',
  tag: 'Page',
  errors: ['VALIDATION_FAILED', 'NOT_FOUND', 'INTERNAL'],
  counted: false,
  sameOriginOnly: true,
} as const;
const pageResponses = [
  {
    status: 200,
    description: 'The page.',
    mediaType: 'text/html',
    headers: ['PageETag'],
    example: '<!doctype html>…',
  },
  { status: 304, description: 'Your version is current.', headers: ['PageETag'] },
] as const;

export const endpoints = {
  createRoom: {
    method: 'POST',
    path: '/api/rooms',
    tag: 'Rooms',
    summary: 'Create a room',
    description:
      'Creates a room, optionally with a PIN, a name and a lifetime. The body is optional. A room expires after {{roomLifetime}}, ' +
      'or after `expiresIn` seconds: from 60 to {{roomMaxSeconds}}.',
    body: { schema: schemas.createRoomRequest, required: false },
    successes: [{ status: 201, description: 'The room was created.', schema: schemas.roomCreated }],
    errors: [...anyRequest, ...anyBody, 'STORAGE_FULL'],
    counted: true,
  },
  getRoom: {
    method: 'GET',
    path: '/api/rooms/:roomId',
    tag: 'Rooms',
    summary: 'Get room information',
    description: 'Returns when the room expires, whether it has a PIN, and how many devices are in it.',
    parameters: roomAccess,
    successes: [{ status: 200, description: 'The room.', schema: schemas.roomInfo }],
    errors: anyRoom,
    counted: true,
  },
  updateRoom: {
    method: 'PATCH',
    path: '/api/rooms/:roomId',
    tag: 'Rooms',
    summary: 'Change a room',
    description:
      'Changes when the room expires, its PIN or its name, and leaves the rest as it is. Send at least one field. ' +
      '`expiresIn` counts from now, from 60 to {{roomMaxSeconds}} seconds, so a room can be extended or shortened. `pin` ' +
      'is the new PIN: send the current one as a header or in the query. A new PIN ends all locks of the room. Devices ' +
      'with a live channel stay in the room, and all others need the new PIN.',
    parameters: roomAccess,
    body: { schema: schemas.updateRoomRequest, required: true },
    successes: [{ status: 200, description: 'The room after the change.', schema: schemas.roomInfo }],
    errors: [...anyRoom, ...anyBody, 'STORAGE_FULL'],
    counted: true,
  },
  deleteRoom: {
    method: 'DELETE',
    path: '/api/rooms/:roomId',
    tag: 'Rooms',
    summary: 'Delete a room',
    description: 'Deletes the room with its text and files, immediately and permanently.',
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
      'Replaces the text of the room. The maximum size, in UTF-8, is {{textSize}}. The text is on disk before the server ' +
      'responds. Each write creates the next version. The response has it in `ETag`.',
    parameters: [
      ...roomAccess,
      {
        name: 'If-Match',
        in: 'header',
        description: 'The version that this text is based on. If it is no longer current, nothing is overwritten.',
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
    description: 'Returns the current text. It is empty before the first write.',
    parameters: [
      ...roomAccess,
      { name: 'If-None-Match', in: 'header', description: 'The version that you have.', example: '"7"' },
    ],
    successes: [
      { status: 200, description: 'The text.', schema: schemas.contentRead, headers: ['ETag'] },
      { status: 304, description: 'Your version is current.', headers: ['ETag'] },
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
      'Changes parts of the text, or appends to it, without sending the whole text. `edits` replace ranges of the version ' +
      '`baseVersion`, in UTF-16 code units. If the text has changed since, the server rebases them and nothing is lost. ' +
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
      'Lists checkpoints of the text, newest first: one after 30 seconds of changes, and one before each large removal or ' +
      'replacement. A room keeps at most 50 checkpoints, with at most 4 MiB in total. To restore one, write it as the new text.',
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
    description: 'Returns the text of a checkpoint.',
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
    description: 'Erases all checkpoints of the room and the log of its edits. The current text stays.',
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
      'Uploads one file of at most {{fileSize}}: as a form with the part `file` (and, before it, `pin` if the PIN is not in a ' +
      'header), or as raw bytes with `Content-Type` and a name.',
    parameters: [
      ...roomAccess,
      {
        name: 'X-File-Name',
        in: 'header',
        description: 'The file name for an upload of raw bytes, as percent-encoded UTF-8.',
        example: 'caf%C3%A9.txt',
      },
      {
        name: 'fileName',
        in: 'query',
        description: 'The file name for an upload of raw bytes, instead of the header.',
        example: 'a.txt',
      },
      {
        name: 'once',
        in: 'query',
        description: 'With `true`: a one-time file, which is erased after one receipt.',
        example: 'true',
      },
    ],
    body: 'file',
    successes: [{ status: 201, description: 'The file was stored.', schema: schemas.fileUploaded }],
    errors: [...anyRoom, 'FILE_TOO_LARGE', 'ROOM_FULL', 'QUOTA_EXCEEDED', 'UNSUPPORTED_MEDIA_TYPE', 'STORAGE_FULL'],
    counted: true,
  },
  createUpload: {
    method: 'POST',
    path: '/api/rooms/:roomId/uploads',
    tag: 'Files',
    summary: 'Start a resumable upload',
    description:
      'Starts an upload by the tus protocol, version 1.0, for large files and bad connections. The ' +
      'response names its URL in `Location`. The request may contain the first bytes. An unfinished upload counts ' +
      'towards all limits, and ends after 24 hours or with its room.',
    parameters: [...roomAccess, tusResumable, uploadLength, uploadMetadata, uploadChecksum],
    body: 'bytes',
    successes: [
      {
        status: 201,
        description: 'The upload was started.',
        headers: ['UploadLocation', 'Upload-Offset', 'Upload-Metadata', 'Upload-Expires', 'Tus-Resumable'],
      },
    ],
    errors: [
      ...anyRoom,
      ...tusErrors,
      'FILE_TOO_LARGE',
      'ROOM_FULL',
      'QUOTA_EXCEEDED',
      'CHECKSUM_MISMATCH',
      'UNSUPPORTED_MEDIA_TYPE',
      'STORAGE_FULL',
    ],
    counted: true,
    isTus: true,
  },
  getUpload: {
    method: 'HEAD',
    path: '/api/rooms/:roomId/uploads/:fileId',
    tag: 'Files',
    summary: 'Get the progress of an upload',
    description: 'Returns how many bytes the server has, so that a client can continue after an interruption.',
    parameters: [...roomAccess, uploadId, tusResumable],
    successes: [
      {
        status: 200,
        description: 'The progress.',
        headers: ['Upload-Offset', 'Upload-Length', 'Upload-Metadata', 'Upload-Expires', 'Tus-Resumable'],
      },
    ],
    errors: [...anyRoom, ...tusErrors, 'UPLOAD_NOT_FOUND'],
    counted: true,
    free: true,
    isTus: true,
  },
  continueUpload: {
    method: 'PATCH',
    path: '/api/rooms/:roomId/uploads/:fileId',
    tag: 'Files',
    summary: 'Continue an upload',
    description:
      'Sends bytes from `Upload-Offset` on. Bytes that arrive before an interruption are kept. After the last byte, the ' +
      'file is in the room: its id is the id of the upload, and the response has its URL in `X-File-Url`.',
    parameters: [...roomAccess, uploadId, tusResumable, uploadOffset, uploadChecksum],
    body: 'bytes',
    successes: [
      {
        status: 204,
        description: 'The bytes were stored.',
        headers: ['Upload-Offset', 'Upload-Expires', 'Tus-Resumable'],
      },
    ],
    errors: [
      ...anyRoom,
      ...tusErrors,
      'UPLOAD_NOT_FOUND',
      'UPLOAD_CONFLICT',
      'FILE_TOO_LARGE',
      'CHECKSUM_MISMATCH',
      'UNSUPPORTED_MEDIA_TYPE',
      'STORAGE_FULL',
    ],
    counted: true,
    free: true,
    isTus: true,
  },
  cancelUpload: {
    method: 'DELETE',
    path: '/api/rooms/:roomId/uploads/:fileId',
    tag: 'Files',
    summary: 'Cancel an upload',
    description: 'Removes an unfinished upload.',
    parameters: [...roomAccess, uploadId, tusResumable],
    successes: [{ status: 204, description: 'The upload was removed.', headers: ['Tus-Resumable'] }],
    errors: [...anyRoom, ...tusErrors, 'UPLOAD_NOT_FOUND', 'STORAGE_FULL'],
    counted: true,
    free: true,
    isTus: true,
  },
  restoreFile: {
    method: 'POST',
    path: '/api/rooms/:roomId/files/:fileId/restore',
    tag: 'Files',
    summary: 'Restore a removed file',
    description: 'Undoes the removal of a file, for 60 seconds.',
    parameters: [...roomAccess, fileId],
    body: { schema: schemas.pinOnlyRequest, required: false },
    successes: [
      {
        status: 200,
        description: 'The file was restored.',
        schema: schemas.confirmation,
        example: { success: true, message: 'The file was restored.' },
      },
    ],
    errors: [...anyRoom, ...anyBody, 'FILE_NOT_FOUND', 'STORAGE_FULL'],
    counted: true,
  },
  claimFile: {
    method: 'POST',
    path: '/api/rooms/:roomId/files/:fileId/claim',
    tag: 'Files',
    summary: 'Claim a one-time file',
    description:
      'Reserves a one-time file for 30 minutes. `url` then returns it, as often as needed and with ranges, so that a ' +
      'broken download can continue. Others receive `FILE_CLAIMED` until the claim ends.',
    parameters: [...roomAccess, fileId],
    body: { schema: schemas.pinOnlyRequest, required: false },
    successes: [{ status: 200, description: 'The file is yours to receive.', schema: schemas.fileClaimed }],
    errors: [...anyRoom, ...anyBody, 'FILE_NOT_FOUND', 'FILE_CLAIMED', 'NOT_ONE_TIME_FILE', 'STORAGE_FULL'],
    counted: true,
  },
  confirmClaim: {
    method: 'POST',
    path: '/api/rooms/:roomId/claims/:claim/done',
    tag: 'Files',
    summary: 'Confirm the receipt of a one-time file',
    description:
      'Erases the file, immediately and permanently. Send this when the whole file is stored on your side. Does not ' +
      'count as a request.',
    parameters: [...roomAccess, claim],
    body: { schema: schemas.pinOnlyRequest, required: false },
    successes: [
      {
        status: 200,
        description: 'The file was erased.',
        schema: schemas.confirmation,
        example: { success: true, message: 'The file was received and erased.' },
      },
    ],
    errors: [...anyRoom, ...anyBody, 'CLAIM_NOT_FOUND', 'STORAGE_FULL'],
    counted: true,
    free: true,
  },
  releaseClaim: {
    method: 'DELETE',
    path: '/api/rooms/:roomId/claims/:claim',
    tag: 'Files',
    summary: 'Give a one-time file back',
    description: 'Ends a claim before it expires, for example after a failed download. Does not count as a request.',
    parameters: [...roomAccess, claim],
    body: { schema: schemas.pinOnlyRequest, required: false },
    successes: [
      {
        status: 200,
        description: 'The file is available again.',
        schema: schemas.confirmation,
        example: { success: true, message: 'The file is available again.' },
      },
    ],
    errors: [...anyRoom, ...anyBody, 'CLAIM_NOT_FOUND', 'STORAGE_FULL'],
    counted: true,
    free: true,
  },
  listFiles: {
    method: 'GET',
    path: '/api/rooms/:roomId/files',
    tag: 'Files',
    summary: 'List the files of a room',
    description: 'Lists the files, oldest first.',
    parameters: roomAccess,
    successes: [{ status: 200, description: 'The files.', schema: schemas.fileList }],
    errors: anyRoom,
    counted: true,
  },
  downloadZip: {
    method: 'GET',
    path: '/api/rooms/:roomId/files.zip',
    tag: 'Files',
    summary: 'Download all files as a zip archive',
    description:
      'Returns all files of the room, or the selected ones, as one zip archive without compression. Folders are kept. ' +
      'Files with the same name get a number, and names that are not allowed on every system are changed. ' +
      'The archive is created while it is sent: if a file is removed before its turn, the connection is aborted.',
    parameters: [...roomAccess, selectedFiles, ticketQuery],
    successes: [
      {
        status: 200,
        description: 'The archive.',
        mediaType: 'application/zip',
        headers: ['ZipDisposition'],
      },
    ],
    errors: [...anyRoom, 'FILE_NOT_FOUND', 'INVALID_TICKET'],
    counted: true,
    acceptsTicket: true,
  },
  issueTicket: {
    method: 'POST',
    path: '/api/rooms/:roomId/tickets',
    tag: 'Files',
    summary: 'Create a download link',
    description:
      'Returns a URL that downloads the zip archive of the room without a PIN or an API key for 60 seconds. A browser can ' +
      'open it as a link. Downloads that have started continue after that. The ticket is valid for this room only.',
    parameters: roomAccess,
    body: { schema: schemas.pinOnlyRequest, required: false },
    successes: [{ status: 201, description: 'The ticket and the URL.', schema: schemas.ticketIssued }],
    errors: [...anyRoom, ...anyBody],
    counted: true,
  },
  removeFile: {
    method: 'DELETE',
    path: '/api/rooms/:roomId/files/:fileId',
    tag: 'Files',
    summary: 'Remove a file from a room',
    description:
      'Removes the file. Its URL stops working immediately. The file can be restored for 60 seconds; then it is erased.',
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
    summary: 'Follow a room over server-sent events',
    description:
      'A stream of all changes in the room, starting with a `snapshot`, for `curl -N` and `EventSource`. See ' +
      '/api/asyncapi.json for the messages. Opening the stream counts as one request, unless it resumes another stream.',
    parameters: [
      ...roomAccess,
      {
        name: 'deviceId',
        in: 'query',
        description: 'The device id, instead of the header X-Device-Id.',
        example: 'my-phone',
      },
      { name: 'deviceName', in: 'query', description: 'The display name of the device.', example: 'Chrome on Android' },
      {
        name: 'Last-Event-ID',
        in: 'header',
        description: 'Your last seq. The server sends a snapshot only if you missed something.',
        example: '12',
      },
      {
        name: resumeHeader,
        in: 'header',
        description:
          'The latest `resumeToken` of a stream of this room that ended at most 10 minutes ago. The new stream then needs no ' +
          'PIN, does not count as a request, and opens even if the request limit is used up.',
        example: resumeToken.examples[0],
      },
    ],
    successes: [
      {
        status: 200,
        description: 'The stream, until you close it.',
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
    summary: 'Join a room over WebSocket',
    description:
      'A bidirectional channel. Send `join` as the first message, within 5 seconds, with the PIN if the room has one. See ' +
      '/api/asyncapi.json for the messages. Opening the channel counts as one request; messages do not count. To resume a ' +
      'channel that ended at most 10 minutes ago, offer the subprotocols `poproom` and `resume.` followed by its latest ' +
      '`resumeToken`. The new channel then needs no PIN, does not count as a request, and opens even if the request limit ' +
      'is used up.',
    parameters: [roomId],
    successes: [{ status: 101, description: 'The channel is open. Send `join`.' }],
    errors: anyRequest,
    counted: true,
  },
  health: {
    method: 'GET',
    path: '/api/health',
    tag: 'Service',
    summary: 'Check service health',
    description:
      'Reports whether the service and its stores respond. Counts as a request, like everything under /api. For probes, use /readyz.',
    successes: [
      { status: 200, description: 'All stores respond.', schema: schemas.healthReport },
      {
        status: 503,
        description: 'A store does not respond: `status` is `degraded`.',
        schema: schemas.healthReport,
        example: { status: 'degraded', timestamp: '2026-11-15T09:30:00.000Z', uptime: 86_400.123 },
      },
    ],
    errors: ['VALIDATION_FAILED', 'INVALID_API_KEY', 'RATE_LIMITED', 'INTERNAL'],
    counted: true,
    alwaysOpen: true,
  },
  getLimits: {
    method: 'GET',
    path: '/api/limits',
    tag: 'Service',
    summary: 'Get the limits of the server',
    description: 'Returns the limits of this server, and how much you have stored.',
    successes: [{ status: 200, description: 'The limits.', schema: schemas.serverLimits }],
    errors: anyRequest,
    counted: true,
  },
  openapi: {
    method: 'GET',
    path: '/api/openapi.json',
    tag: 'Service',
    summary: 'Get the OpenAPI document',
    description: 'The API in machine-readable form.',
    successes: [{ status: 200, description: 'The document.', schema: schemas.apiDescription }],
    errors: anyRequest,
    counted: true,
  },
  asyncapi: {
    method: 'GET',
    path: '/api/asyncapi.json',
    tag: 'Service',
    summary: 'Get the AsyncAPI document',
    description: 'The live channel in machine-readable form.',
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
      'Returns the file. `fileUrl` contains this URL, which grants read access. Images, audio, video, PDF and plain text ' +
      'open in the browser; other files are attachments. A one-time file needs a claim. Without one, the response is ' +
      '`ONE_TIME_FILE`, and the file stays.',
    parameters: [
      fileId,
      {
        name: 'name',
        in: 'path',
        required: true,
        description: 'The file name. The server ignores it.',
        example: 'photo.jpg',
      },
      { name: 'download', in: 'query', description: 'With any value: send the file as an attachment.', example: '1' },
      {
        name: 'claim',
        in: 'query',
        description: 'The claim of a one-time file.',
        example: '4b2ae1f4d7c09a3361f08c5e92d7b6a0',
      },
      { name: 'Range', in: 'header', description: 'A single byte range.', example: 'bytes=0-1023' },
      { name: 'If-Range', in: 'header', description: 'Apply `Range` only to this version.', example: '"9f86d081"' },
      { name: 'If-None-Match', in: 'header', description: 'The version that you have.', example: '"9f86d081"' },
    ],
    successes: [
      { status: 200, description: 'The file.', mediaType: '*/*', headers: ['FileETag', 'Content-Disposition'] },
      {
        status: 206,
        description: 'The requested range.',
        mediaType: '*/*',
        headers: ['FileETag', 'Content-Disposition', 'Content-Range'],
      },
      { status: 304, description: 'Your version is current.', headers: ['FileETag'] },
      {
        status: 416,
        description: 'The range is outside the file. The code is `VALIDATION_FAILED`.',
        schema: schemas.errorBody,
        headers: ['UnmetRange'],
        example: {
          success: false,
          error: {
            code: 'VALIDATION_FAILED',
            message: 'The requested range is outside the file, which has 34567 bytes.',
            details: { field: 'Range' },
          },
          requestId: 'pZ3kVw8q-2s',
        },
      },
    ],
    errors: ['VALIDATION_FAILED', 'FILE_NOT_FOUND', 'ONE_TIME_FILE', 'CLAIM_NOT_FOUND', 'INTERNAL', 'UNAVAILABLE'],
    counted: false,
  },
  docs: {
    method: 'GET',
    path: '/docs',
    tag: 'Service',
    summary: 'Read the documentation',
    description: 'The API documentation as a page, with the URL and the limits of this server.',
    successes: pageResponses,
    errors: ['VALIDATION_FAILED', 'NOT_FOUND', 'INTERNAL'],
    counted: false,
    sameOriginOnly: true,
  },
  live: {
    method: 'GET',
    path: '/livez',
    tag: 'Service',
    summary: 'Liveness probe',
    description: 'For a supervisor: restart the server if this does not respond.',
    successes: [{ status: 200, description: 'The process runs.', schema: schemas.probe }],
    errors: ['VALIDATION_FAILED', 'INTERNAL'],
    counted: false,
  },
  ready: {
    method: 'GET',
    path: '/readyz',
    tag: 'Service',
    summary: 'Readiness probe',
    description:
      'For a load balancer: checks that the stores respond, the disk has space for texts, and the sweep is not late. ' +
      '`uploads` is `full` if there is no space for files; the server is still ready then, because texts work.',
    successes: [
      { status: 200, description: 'The server is ready.', schema: schemas.readiness },
      {
        status: 503,
        description: 'The server is not ready. See `checks` for the reason.',
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
    summary: 'Metrics for Prometheus',
    description: 'Available only with `POPROOM_METRICS=true`.',
    successes: [
      {
        status: 200,
        description: 'The metrics.',
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
    description: 'The start page, where people create or join a room.',
    successes: pageResponses,
  },
  roomPage: {
    ...anyPage,
    path: '/r/:roomId',
    summary: 'Open the page in a room',
    description: 'The same page, whether or not the room exists. The page checks this itself.',
    parameters: [roomId],
    successes: pageResponses,
  },
  sharePage: {
    ...anyPage,
    path: '/share',
    summary: 'Share to the page',
    description: 'The same page, as the share target of a device.',
    successes: pageResponses,
  },
  favicon: {
    ...anyPage,
    path: '/favicon.ico',
    summary: 'Get the icon',
    description: 'For browsers and tools that look for it here.',
    successes: [
      { status: 200, description: 'The icon.', mediaType: 'image/x-icon', headers: ['PageETag'] },
      { status: 304, description: 'Your version is current.', headers: ['PageETag'] },
    ],
  },
  pageAsset: {
    ...anyPage,
    path: '/assets/:name',
    summary: 'Get an asset of the page',
    description: 'Scripts, styles and icons of the page, compressed as `Accept-Encoding` allows.',
    parameters: [
      { name: 'name', in: 'path', required: true, description: 'The name of the asset.', example: 'icon.svg' },
    ],
    successes: [
      { status: 200, description: 'The file.', mediaType: '*/*', headers: ['PageETag'] },
      { status: 304, description: 'Your version is current.', headers: ['PageETag'] },
    ],
  },
} as const satisfies Record<string, Endpoint>;

export type EndpointName = keyof typeof endpoints;
