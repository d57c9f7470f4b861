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
  endpointsWith,
  fileId,
  fileMeta,
  idempotencyKey,
  inHeader,
  inPath,
  inQuery,
  listLimit,
  responds,
  roomAccess,
  selectedFiles,
  ticketQuery,
  uploadTicket,
} from './endpoint.ts';

const oneTime = inQuery('once', 'With `true`: a one-time file, which is erased after one receipt.', 'true');

const anyFile = { tag: 'Files', counted: true } as const;
const files = endpointsWith(anyFile);

const wholeUpload = endpointsWith({
  ...anyFile,
  operation: 'addFile',
  successes: [responds('The file was stored.', schemas.fileUploaded, { status: 201, headers: ['FileLocation'] })],
  errors: [...anyRoom, ...anyKeyedUpload, ...anyUpload],
  acceptsUploadTicket: true,
});

export const filesEndpoints = {
  uploadFile: {
    ...wholeUpload('POST', '/api/rooms/:roomId/upload', 'Upload a file to a room'),
    description:
      'Uploads one file of at most {{fileSize}}: as a form with the part `file`, or as raw bytes with `Content-Type` and a ' +
      'name. A form can also have the PIN, in a part `pin` before the file. In an encrypted room, the bytes are an ' +
      'encrypted file, and the sealed metadata replaces name, type and folder.',
    parameters: [
      ...roomAccess,
      idempotencyKey,
      inHeader('X-File-Name', 'The file name for an upload of raw bytes, as percent-encoded UTF-8.', 'caf%C3%A9.txt'),
      inQuery('fileName', 'The file name for an upload of raw bytes, instead of the header.', 'a.txt'),
      fileMeta,
      oneTime,
      uploadTicket,
    ],
    body: 'file',
  },
  putFile: {
    ...wholeUpload('PUT', '/api/rooms/:roomId/upload/:name', 'Upload a file by its name'),
    description:
      'Uploads the body as a file of this name, of at most {{fileSize}}, for `curl -T`. Without a `Content-Type`, the file ' +
      'is `application/octet-stream`. It does not replace a file with the same name.',
    parameters: [
      ...roomAccess,
      idempotencyKey,
      inPath('name', 'The file name, as percent-encoded UTF-8.', 'photo.jpg'),
      fileMeta,
      oneTime,
      uploadTicket,
    ],
    body: 'raw-file',
  },
  listFiles: {
    ...files('GET', '/api/rooms/:roomId/files', 'List the files of a room', 'listFiles'),
    description: 'Lists the files, oldest first.',
    parameters: [...roomAccess, listLimit],
    successes: [responds('The files.', schemas.fileList)],
    errors: anyRoom,
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
      inPath('name', 'The file name. The server ignores it.', 'photo.jpg'),
      inQuery('download', 'With any value: the browser saves the file instead of opening it.', '1'),
      inQuery('claim', 'The claim of a one-time file.', '4b2ae1f4d7c09a3361f08c5e92d7b6a0'),
      inHeader('Range', 'A single byte range.', 'bytes=0-1023'),
      inHeader('If-Range', 'Apply `Range` only to this version.', '"9f86d081"'),
      inHeader('If-None-Match', 'The version that you have.', '"9f86d081"'),
      inHeader(
        'If-Modified-Since',
        'The `Last-Modified` that you have; ignored with `If-None-Match`.',
        'Sun, 15 Nov 2026 09:30:00 GMT',
      ),
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
    ...files('GET', '/api/rooms/:roomId/files.zip', 'Download all files as a zip archive', 'listFiles'),
    description:
      'Returns all files of the room, or the selected ones, as one zip archive without compression. It keeps folders. ' +
      'Files with the same name get a number, and names that are not allowed on every system are changed. ' +
      'The archive is created while it is sent: if a file is removed before its turn, the connection is aborted.',
    parameters: [...roomAccess, selectedFiles, ticketQuery],
    successes: [
      { status: 200, description: 'The archive.', mediaType: 'application/zip', headers: ['ZipDisposition'] },
    ],
    errors: [...anyRoom, 'FILE_NOT_FOUND', 'INVALID_TICKET'],
    acceptsTicket: true,
  },
  removeFile: {
    ...files('DELETE', '/api/rooms/:roomId/files/:fileId', 'Remove a file from a room', 'removeFile'),
    description:
      'Removes the file. Its URL stops working immediately. The file can be restored for 60 seconds; then it is erased.',
    parameters: [
      ...roomAccess,
      fileId,
      inHeader('If-Match', 'Remove the file only if this is its version, as in the `ETag` of its URL.', '"9f86d081"'),
    ],
    body: { schema: schemas.pinOnlyRequest, required: false },
    successes: [confirms('The file was removed.')],
    errors: [...anyRoom, ...anyBody, 'FILE_NOT_FOUND', 'VERSION_CONFLICT', 'STORAGE_FULL'],
  },
  restoreFile: {
    ...files('POST', '/api/rooms/:roomId/files/:fileId/restore', 'Restore a removed file', 'removeFile'),
    description: 'Undoes the removal of a file, for 60 seconds.',
    parameters: [...roomAccess, fileId],
    body: { schema: schemas.pinOnlyRequest, required: false },
    successes: [confirms('The file was restored.')],
    errors: [...anyRoom, ...anyBody, 'FILE_NOT_FOUND', 'STORAGE_FULL'],
  },
  issueTicket: {
    ...files('POST', '/api/rooms/:roomId/tickets', 'Create a download or upload ticket', 'listFiles'),
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
      responds('The ticket and the URL.', schemas.ticketIssued, {
        status: 201,
        example: {
          ticket: ticketQuery.example,
          url: `http://localhost:8080/api/rooms/7KQ2MX/files.zip?ticket=${ticketQuery.example}`,
          expiresAt: '2026-11-15T09:31:00.000Z',
        },
      }),
    ],
    errors: [...anyRoom, ...anyBody],
  },
  claimFile: {
    ...files('POST', '/api/rooms/:roomId/files/:fileId/claim', 'Claim a one-time file', 'receiveFile'),
    description:
      'Reserves a one-time file for you for 30 minutes. During this time, the `url` of the response returns it as often as ' +
      'needed, also in ranges, so that a broken download can continue. Others receive `FILE_CLAIMED`.',
    parameters: [...roomAccess, fileId],
    body: { schema: schemas.pinOnlyRequest, required: false },
    successes: [responds('The file is yours to receive.', schemas.fileClaimed)],
    errors: [...anyRoom, ...anyBody, 'FILE_NOT_FOUND', 'FILE_CLAIMED', 'NOT_ONE_TIME_FILE', 'STORAGE_FULL'],
  },
  confirmClaim: {
    ...files('POST', '/api/rooms/:roomId/claims/:claim/done', 'Confirm the receipt of a one-time file', 'receiveFile'),
    description: 'Erases the file, immediately and permanently. Send this when the whole file is stored on your side.',
    parameters: [...roomAccess, claim],
    body: { schema: schemas.pinOnlyRequest, required: false },
    successes: [confirms('The file was erased.', 'The file was received and erased.')],
    errors: [...anyRoom, ...anyBody, 'CLAIM_NOT_FOUND', 'STORAGE_FULL'],
    free: true,
  },
  releaseClaim: {
    ...files('DELETE', '/api/rooms/:roomId/claims/:claim', 'Give a one-time file back', 'receiveFile'),
    description: 'Ends a claim before it expires, for example after a failed download.',
    parameters: [...roomAccess, claim],
    body: { schema: schemas.pinOnlyRequest, required: false },
    successes: [confirms('The file is available again.')],
    errors: [...anyRoom, ...anyBody, 'CLAIM_NOT_FOUND', 'STORAGE_FULL'],
    free: true,
  },
} as const satisfies Record<string, Endpoint>;
