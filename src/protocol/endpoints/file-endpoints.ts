/** Endpoints of files: upload in one request, list, download, remove, tickets and one-time files. */

import * as schemas from '../schemas.ts';
import {
  anyBody,
  anyKeyedUpload,
  anyRoom,
  anyUpload,
  claim,
  confirms,
  type Endpoint,
  fileId,
  fileMeta,
  idempotencyKey,
  listLimit,
  type Parameter,
  roomAccess,
  selectedFiles,
  ticketQuery,
  uploadTicket,
} from './endpoint.ts';

const oneTime: Parameter = {
  name: 'once',
  in: 'query',
  description: 'With `true`: a one-time file, which is erased after one receipt.',
  example: 'true',
};

export const filesEndpoints = {
  uploadFile: {
    method: 'POST',
    path: '/api/rooms/:roomId/upload',
    tag: 'Files',
    operation: 'addFile',
    summary: 'Upload a file to a room',
    description:
      'Uploads one file of at most {{fileSize}}: as a form with the part `file`, or as raw bytes with `Content-Type` and a ' +
      'name. A form can also have the PIN, in a part `pin` before the file. In an encrypted room, the bytes are an ' +
      'encrypted file, and the sealed metadata replaces name, type and folder.',
    parameters: [
      ...roomAccess,
      idempotencyKey,
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
      fileMeta,
      oneTime,
      uploadTicket,
    ],
    body: 'file',
    successes: [
      { status: 201, description: 'The file was stored.', schema: schemas.fileUploaded, headers: ['FileLocation'] },
    ],
    errors: [...anyRoom, ...anyKeyedUpload, ...anyUpload, 'QUOTA_EXCEEDED', 'UNSUPPORTED_MEDIA_TYPE', 'STORAGE_FULL'],
    counted: true,
    acceptsUploadTicket: true,
  },
  putFile: {
    method: 'PUT',
    path: '/api/rooms/:roomId/upload/:name',
    tag: 'Files',
    operation: 'addFile',
    summary: 'Upload a file by its name',
    description:
      'Uploads the body as a file of this name, of at most {{fileSize}}, for `curl -T`. Without a `Content-Type`, the file ' +
      'is `application/octet-stream`. It does not replace a file with the same name.',
    parameters: [
      ...roomAccess,
      idempotencyKey,
      {
        name: 'name',
        in: 'path',
        required: true,
        description: 'The file name, as percent-encoded UTF-8.',
        example: 'photo.jpg',
      },
      fileMeta,
      oneTime,
      uploadTicket,
    ],
    body: 'raw-file',
    successes: [
      { status: 201, description: 'The file was stored.', schema: schemas.fileUploaded, headers: ['FileLocation'] },
    ],
    errors: [...anyRoom, ...anyKeyedUpload, ...anyUpload, 'QUOTA_EXCEEDED', 'UNSUPPORTED_MEDIA_TYPE', 'STORAGE_FULL'],
    counted: true,
    acceptsUploadTicket: true,
  },
  listFiles: {
    method: 'GET',
    path: '/api/rooms/:roomId/files',
    tag: 'Files',
    operation: 'listFiles',
    summary: 'List the files of a room',
    description: 'Lists the files, oldest first.',
    parameters: [...roomAccess, listLimit],
    successes: [{ status: 200, description: 'The files.', schema: schemas.fileList }],
    errors: anyRoom,
    counted: true,
  },
  serveFile: {
    method: 'GET',
    path: '/files/:fileId/:name',
    tag: 'Files',
    summary: 'Download a file',
    description:
      'Returns the file. `fileUrl` is this URL; it needs no PIN and no API key. Images, audio, video, PDF and plain text ' +
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
      {
        name: 'download',
        in: 'query',
        description: 'With any value: the browser saves the file instead of opening it.',
        example: '1',
      },
      {
        name: 'claim',
        in: 'query',
        description: 'The claim of a one-time file.',
        example: '4b2ae1f4d7c09a3361f08c5e92d7b6a0',
      },
      { name: 'Range', in: 'header', description: 'A single byte range.', example: 'bytes=0-1023' },
      { name: 'If-Range', in: 'header', description: 'Apply `Range` only to this version.', example: '"9f86d081"' },
      { name: 'If-None-Match', in: 'header', description: 'The version that you have.', example: '"9f86d081"' },
      {
        name: 'If-Modified-Since',
        in: 'header',
        description: 'The `Last-Modified` that you have; ignored with `If-None-Match`.',
        example: 'Sun, 15 Nov 2026 09:30:00 GMT',
      },
    ],
    successes: [
      {
        status: 200,
        description: 'The file.',
        mediaType: '*/*',
        headers: ['FileETag', 'Last-Modified', 'Content-Disposition'],
      },
      {
        status: 206,
        description: 'The requested range.',
        mediaType: '*/*',
        headers: ['FileETag', 'Last-Modified', 'Content-Disposition', 'Content-Range'],
      },
      { status: 304, description: 'Your version is current.', headers: ['FileETag', 'Last-Modified'] },
      {
        status: 416,
        description: 'The range is outside the file. The code is `VALIDATION_FAILED`.',
        schema: schemas.errorBody,
        headers: ['UnmetRange'],
        example: {
          success: false,
          error: {
            code: 'VALIDATION_FAILED',
            message: 'The requested range is outside the file, which has 34,567 bytes.',
            details: { field: 'Range' },
          },
          requestId: 'pZ3kVw8q-2s',
        },
      },
    ],
    errors: [
      'VALIDATION_FAILED',
      'ADDRESS_BLOCKED',
      'FILE_NOT_FOUND',
      'ONE_TIME_FILE',
      'CLAIM_NOT_FOUND',
      'INTERNAL',
      'UNAVAILABLE',
    ],
    counted: false,
  },
  downloadZip: {
    method: 'GET',
    path: '/api/rooms/:roomId/files.zip',
    tag: 'Files',
    operation: 'listFiles',
    summary: 'Download all files as a zip archive',
    description:
      'Returns all files of the room, or the selected ones, as one zip archive without compression. It keeps folders. ' +
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
  removeFile: {
    method: 'DELETE',
    path: '/api/rooms/:roomId/files/:fileId',
    tag: 'Files',
    operation: 'removeFile',
    summary: 'Remove a file from a room',
    description:
      'Removes the file. Its URL stops working immediately. The file can be restored for 60 seconds; then it is erased.',
    parameters: [
      ...roomAccess,
      fileId,
      {
        name: 'If-Match',
        in: 'header',
        description: 'Remove the file only if this is its version, as in the `ETag` of its URL.',
        example: '"9f86d081"',
      },
    ],
    body: { schema: schemas.pinOnlyRequest, required: false },
    successes: [confirms('The file was removed.')],
    errors: [...anyRoom, ...anyBody, 'FILE_NOT_FOUND', 'VERSION_CONFLICT', 'STORAGE_FULL'],
    counted: true,
  },
  restoreFile: {
    method: 'POST',
    path: '/api/rooms/:roomId/files/:fileId/restore',
    tag: 'Files',
    operation: 'removeFile',
    summary: 'Restore a removed file',
    description: 'Undoes the removal of a file, for 60 seconds.',
    parameters: [...roomAccess, fileId],
    body: { schema: schemas.pinOnlyRequest, required: false },
    successes: [confirms('The file was restored.')],
    errors: [...anyRoom, ...anyBody, 'FILE_NOT_FOUND', 'STORAGE_FULL'],
    counted: true,
  },
  issueTicket: {
    method: 'POST',
    path: '/api/rooms/:roomId/tickets',
    tag: 'Files',
    operation: 'listFiles',
    summary: 'Create a download or upload ticket',
    description:
      'Without `uploads`, returns a `url` that downloads the zip archive of the room without a PIN or an API key, for 60 ' +
      'seconds. A browser can open it as a link. Downloads that have started continue after that.\n\n' +
      'With `uploads`, announces that many uploads, which then count as this one request: send the ticket as ' +
      '`X-Upload-Ticket` with each of them. It is valid for an hour, for the same room or link, for the same client, and ' +
      'for at most {{roomFiles}}. An upload with any other ticket, or with one that is used up, counts as usual. For such a ' +
      'ticket, a drop link works and a read link does not.',
    parameters: roomAccess,
    body: { schema: schemas.issueTicketRequest, required: false },
    successes: [
      {
        status: 201,
        description: 'The ticket and the URL.',
        schema: schemas.ticketIssued,
        example: {
          ticket: ticketQuery.example,
          url: `http://localhost:8080/api/rooms/7KQ2MX/files.zip?ticket=${ticketQuery.example}`,
          expiresAt: '2026-11-15T09:31:00.000Z',
        },
      },
    ],
    errors: [...anyRoom, ...anyBody],
    counted: true,
  },
  claimFile: {
    method: 'POST',
    path: '/api/rooms/:roomId/files/:fileId/claim',
    tag: 'Files',
    operation: 'receiveFile',
    summary: 'Claim a one-time file',
    description:
      'Reserves a one-time file for you for 30 minutes. During this time, the `url` of the response returns it as often as ' +
      'needed, also in ranges, so that a broken download can continue. Others receive `FILE_CLAIMED`.',
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
    operation: 'receiveFile',
    summary: 'Confirm the receipt of a one-time file',
    description: 'Erases the file, immediately and permanently. Send this when the whole file is stored on your side.',
    parameters: [...roomAccess, claim],
    body: { schema: schemas.pinOnlyRequest, required: false },
    successes: [confirms('The file was erased.', 'The file was received and erased.')],
    errors: [...anyRoom, ...anyBody, 'CLAIM_NOT_FOUND', 'STORAGE_FULL'],
    counted: true,
    free: true,
  },
  releaseClaim: {
    method: 'DELETE',
    path: '/api/rooms/:roomId/claims/:claim',
    tag: 'Files',
    operation: 'receiveFile',
    summary: 'Give a one-time file back',
    description: 'Ends a claim before it expires, for example after a failed download.',
    parameters: [...roomAccess, claim],
    body: { schema: schemas.pinOnlyRequest, required: false },
    successes: [confirms('The file is available again.')],
    errors: [...anyRoom, ...anyBody, 'CLAIM_NOT_FOUND', 'STORAGE_FULL'],
    counted: true,
    free: true,
  },
} as const satisfies Record<string, Endpoint>;
