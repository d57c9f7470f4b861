/** Endpoints of files, archives and one-time files. */

import * as schemas from '../schemas.ts';
import {
  anyBody,
  anyRoom,
  claim,
  type Endpoint,
  fileId,
  listLimit,
  roomAccess,
  selectedFiles,
  ticketQuery,
} from './endpoint.ts';

export const filesEndpoints = {
  restoreFile: {
    method: 'POST',
    path: '/api/rooms/:roomId/files/:fileId/restore',
    tag: 'Files',
    operation: 'removeFile',
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
    operation: 'receiveFile',
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
    operation: 'receiveFile',
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
    operation: 'receiveFile',
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
    operation: 'listFiles',
    summary: 'List the files of a room',
    description: 'Lists the files, oldest first.',
    parameters: [...roomAccess, listLimit],
    successes: [{ status: 200, description: 'The files.', schema: schemas.fileList }],
    errors: anyRoom,
    counted: true,
  },
  downloadZip: {
    method: 'GET',
    path: '/api/rooms/:roomId/files.zip',
    tag: 'Files',
    operation: 'listFiles',
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
    operation: 'listFiles',
    summary: 'Create a download or upload ticket',
    description:
      'Without `uploads`, returns a URL that downloads the zip archive of the room without a PIN or an API key for 60 ' +
      'seconds. A browser can open it as a link. Downloads that have started continue after that. The ticket is valid for ' +
      'this room only.\n\n' +
      'With `uploads`, announces that many uploads, so that they count as this one request: send the ticket as ' +
      '`X-Upload-Ticket` with each of them. It is valid for an hour, for the same room or link, for the same client, and ' +
      'for at most {{roomFiles}}. An upload with any other ticket, or with one that is used up, counts as usual. A drop link ' +
      'may create such a ticket, a read link may not.',
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
    successes: [
      {
        status: 200,
        description: 'The file was removed.',
        schema: schemas.confirmation,
        example: { success: true, message: 'The file was removed.' },
      },
    ],
    errors: [...anyRoom, ...anyBody, 'FILE_NOT_FOUND', 'VERSION_CONFLICT', 'STORAGE_FULL'],
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
} as const satisfies Record<string, Endpoint>;
