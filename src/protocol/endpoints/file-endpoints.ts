/** Endpoints of files: upload in one request or in parts (tus), list, download, remove, tickets and one-time files. */
import * as schemas from '../schemas.ts';
import { envelopeSize, maxDropEnvelope, maxPayloadBytes } from '../sealed.ts';
import {
  anyRoom,
  confirms,
  endpointsWith,
  fileId,
  idempotencyKey,
  inHeader,
  inPath,
  inQuery,
  listLimit,
  responds,
  roomAccess,
  roomEndpointsWith,
  type Success,
  uploadTicket,
} from './endpoint.ts';

const fileMeta = inHeader(
  'X-File-Meta',
  `For an encrypted room: the sealed metadata of the file, at most ${envelopeSize('file', maxPayloadBytes.file)} characters, or with a drop link ${maxDropEnvelope}.`,
  'pop1.QEFCQ0RFRkdISUpLTE1OT1BRUlNUVVZX',
  '^pop1(-drop)?\\.[A-Za-z0-9_-]+$',
);
const claim = inPath('claim', 'The claim of a one-time file.', '4b2ae1f4d7c09a3361f08c5e92d7b6a0', '^[0-9a-f]{32}$');
const selectedFiles = inQuery(
  'files',
  'The ids of the files to include, separated by commas; at most 200. Default: all files.',
  '9f86d081884c7d659a2feaa0c55ad015',
  '^[0-9a-f]{32}(,[0-9a-f]{32}){0,199}$',
);
const ticketQuery = inQuery(
  'ticket',
  'A ticket for this room, instead of the PIN. The request then does not count.',
  'tghq3x.Zm9vYmFyYmF6cXV4.c2lnbmF0dXJlc2lnbmF0dXJlc2lnbmF0',
);

const fileHeaders = ['FileETag', 'Last-Modified', 'Content-Disposition'];
const files = roomEndpointsWith({ tag: 'Files' });

const anyBytes = ['FILE_TOO_LARGE', 'ENCRYPTION_REQUIRED', 'UNSUPPORTED_MEDIA_TYPE', 'STORAGE_FULL'] as const;
const anyUpload = [...anyBytes, 'ROOM_FULL', 'QUOTA_EXCEEDED'] as const;

const oneTime = inQuery('once', 'With `true`: a one-time file, which is erased after one receipt.', 'true');
const uploadOptions = [fileMeta, oneTime, uploadTicket];

/** A key is reserved while the file is received. */
const wholeUpload = roomEndpointsWith({
  tag: 'Files',
  successes: [responds('The file was stored.', schemas.fileUploaded, { status: 201, headers: ['FileLocation'] })],
  errors: ['REQUEST_IN_PROGRESS', 'IDEMPOTENCY_KEY_REUSED', ...anyUpload],
  acceptsUploadTicket: true,
});

export const filesEndpoints = {
  uploadFile: wholeUpload('addFile', 'POST', '/upload', 'Upload a file to a room', {
    description:
      'Uploads one file of at most {{fileSize}}: as a form with the part `file`, or as raw bytes with `Content-Type` and a ' +
      'name. A form can also have the PIN, in a part `pin` before the file. In an encrypted room, the bytes are an ' +
      'encrypted file, and the sealed metadata replaces name, type and folder.',
    parameters: [
      idempotencyKey,
      inHeader('X-File-Name', 'The file name for an upload of raw bytes, as percent-encoded UTF-8.', 'caf%C3%A9.txt'),
      inQuery('fileName', 'The file name for an upload of raw bytes, instead of the header.', 'a.txt'),
      ...uploadOptions,
    ],
    body: 'file',
  }),
  putFile: wholeUpload('addFile', 'PUT', '/upload/:name', 'Upload a file by its name', {
    description:
      'Uploads the body as a file of this name, of at most {{fileSize}}, for `curl -T`. Without a `Content-Type`, the file ' +
      'is `application/octet-stream`. It does not replace a file with the same name.',
    parameters: [
      idempotencyKey,
      inPath('name', 'The file name, as percent-encoded UTF-8.', 'photo.jpg'),
      ...uploadOptions,
    ],
    body: 'raw-file',
  }),
  listFiles: files('listFiles', 'GET', '/files', 'List the files of a room', {
    description: 'Lists the files, oldest first.',
    parameters: [listLimit],
    successes: [responds('The files.', schemas.fileList)],
  }),
  serveFile: endpointsWith({ tag: 'Files' })('GET', '/files/:fileId/:name', 'Download a file', {
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
      { status: 200, description: 'The file.', mediaType: '*/*', headers: fileHeaders },
      {
        status: 206,
        description: 'The requested range.',
        mediaType: '*/*',
        headers: [...fileHeaders, 'Content-Range'],
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
    errors: ['ADDRESS_BLOCKED', 'FILE_NOT_FOUND', 'ONE_TIME_FILE', 'CLAIM_NOT_FOUND', 'UNAVAILABLE'],
    counted: false,
  }),
  downloadZip: files('listFiles', 'GET', '/files.zip', 'Download all files as a zip archive', {
    description:
      'Returns all files of the room, or the selected ones, as one zip archive without compression. It keeps folders. ' +
      'Files with the same name get a number, and names that are not allowed on every system are changed. ' +
      'The archive is created while it is sent: if a file is removed before its turn, the connection is aborted.',
    parameters: [selectedFiles, ticketQuery],
    successes: [
      { status: 200, description: 'The archive.', mediaType: 'application/zip', headers: ['ZipDisposition'] },
    ],
    errors: ['FILE_NOT_FOUND', 'INVALID_TICKET'],
    acceptsTicket: true,
  }),
  removeFile: files('removeFile', 'DELETE', '/files/:fileId', 'Remove a file from a room', {
    description:
      'Removes the file. Its URL stops working immediately. The file can be restored for 60 seconds; then it is erased.',
    parameters: [
      fileId,
      inHeader('If-Match', 'Remove the file only if this is its version, as in the `ETag` of its URL.', '"9f86d081"'),
    ],
    successes: [confirms('The file was removed.')],
    errors: ['FILE_NOT_FOUND', 'VERSION_CONFLICT', 'STORAGE_FULL'],
  }),
  restoreFile: files('removeFile', 'POST', '/files/:fileId/restore', 'Restore a removed file', {
    description: 'Undoes the removal of a file, for 60 seconds.',
    parameters: [fileId],
    successes: [confirms('The file was restored.')],
    errors: ['FILE_NOT_FOUND', 'STORAGE_FULL'],
  }),
  issueTicket: files('listFiles', 'POST', '/tickets', 'Create a download or upload ticket', {
    description:
      'Without `uploads`, returns a `url` that downloads the zip archive of the room without a PIN or an API key, for 60 ' +
      'seconds. A browser can open it as a link. Downloads that have started continue after that.\n\n' +
      'With `uploads`, announces that many uploads, which then count as this one request: send the ticket as ' +
      '`X-Upload-Ticket` with each of them. It is valid for an hour, for the same room or link, for the same client, and ' +
      'for at most {{roomFiles}}. An upload with any other ticket, or with one that is used up, counts as usual. For such a ' +
      'ticket, a drop link works and a read link does not.',
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
  }),
  claimFile: files('receiveFile', 'POST', '/files/:fileId/claim', 'Claim a one-time file', {
    description:
      'Reserves a one-time file for you for 30 minutes. During this time, the `url` of the response returns it as often as ' +
      'needed, also in ranges, so that a broken download can continue. Others receive `FILE_CLAIMED`.',
    parameters: [fileId],
    successes: [responds('The file is yours to receive.', schemas.fileClaimed)],
    errors: ['FILE_NOT_FOUND', 'FILE_CLAIMED', 'NOT_ONE_TIME_FILE', 'STORAGE_FULL'],
  }),
  confirmClaim: files('receiveFile', 'POST', '/claims/:claim/done', 'Confirm the receipt of a one-time file', {
    description: 'Erases the file, immediately and permanently. Send this when the whole file is stored on your side.',
    parameters: [claim],
    successes: [confirms('The file was erased.', 'The file was received and erased.')],
    errors: ['CLAIM_NOT_FOUND', 'STORAGE_FULL'],
    free: true,
  }),
  releaseClaim: files('receiveFile', 'DELETE', '/claims/:claim', 'Give a one-time file back', {
    description: 'Ends a claim before it expires, for example after a failed download.',
    parameters: [claim],
    successes: [confirms('The file is available again.')],
    errors: ['CLAIM_NOT_FOUND', 'STORAGE_FULL'],
    free: true,
  }),
};

const tus = endpointsWith({
  tag: 'Files',
  operation: 'addFile',
  parameters: roomAccess,
  errors: [...anyRoom, 'UNSUPPORTED_VERSION'],
  isTus: true,
});
const answers = (status: number, description: string, ...headers: string[]): Success => ({
  ...{ status, description },
  headers: [...headers, 'Upload-Expires', 'Tus-Resumable'],
});

const inRequiredHeader = (...of: Parameters<typeof inHeader>) => ({ ...inHeader(...of), required: true }) as const;

const tusResumable = { ...inRequiredHeader('Tus-Resumable', 'The version of tus.', '1.0.0'), enum: ['1.0.0'] };
const bytes = '^[0-9]{1,15}$';
const uploadLength = inRequiredHeader('Upload-Length', 'The size of the file in bytes.', '104857600', bytes);
const uploadOffset = inRequiredHeader('Upload-Offset', 'The number of bytes that the server has.', '5242880', bytes);
const uploadId = { ...fileId, description: 'The id of the upload, from its `Location`.' };
const uploadMetadata = inHeader(
  'Upload-Metadata',
  'Keys with base64 values, separated by commas: `filename`, `filetype`, `folder` and, for a one-time file, ' +
    '`once`. `name`, `type` and `relativePath` are understood too. In an encrypted room: `meta`, the sealed metadata.',
  'filename dmlkZW8ubXA0,filetype dmlkZW8vbXA0',
);
const uploadChecksum = inHeader(
  'Upload-Checksum',
  'The algorithm (`sha1`, `sha256` or `md5`) and the base64 checksum of the bytes in this request.',
  'sha1 Lve95gjOVATpfV8EL5X4nxwjKHE=',
);

export const uploadsEndpoints = {
  createUpload: tus('POST', '/api/rooms/:roomId/uploads', 'Start a resumable upload', {
    description:
      'Starts an upload with the tus protocol, version 1.0, for large files and bad connections. The response has its URL in ' +
      '`Location`. The request may contain the first bytes, as `application/offset+octet-stream`. An unfinished upload ' +
      'counts towards all limits, and ends after 24 hours or with its room.',
    // Without the optional body: clients that are generated for Go and Python cannot leave out one that is described.
    parameters: [tusResumable, uploadLength, uploadMetadata, uploadChecksum, uploadTicket],
    successes: [answers(201, 'The upload was started.', 'UploadLocation', 'Upload-Offset', 'Upload-Metadata')],
    errors: [...anyUpload, 'CHECKSUM_MISMATCH'],
    acceptsUploadTicket: true,
  }),
  getUpload: tus('HEAD', '/api/rooms/:roomId/uploads/:fileId', 'Get the progress of an upload', {
    description: 'Returns how many bytes the server has, so that a client can continue after an interruption.',
    parameters: [uploadId, tusResumable],
    successes: [answers(200, 'The progress.', 'Upload-Offset', 'Upload-Length', 'Upload-Metadata')],
    errors: ['UPLOAD_NOT_FOUND'],
    free: true,
  }),
  continueUpload: tus('PATCH', '/api/rooms/:roomId/uploads/:fileId', 'Continue an upload', {
    description:
      'Sends the bytes from `Upload-Offset` on. The server keeps bytes that arrive before an interruption. After the last ' +
      'byte, the file is in the room: its id is the id of the upload, and the response has its URL in `X-File-Url`.',
    parameters: [uploadId, tusResumable, uploadOffset, uploadChecksum],
    body: 'bytes',
    successes: [answers(204, 'The bytes were stored.', 'Upload-Offset')],
    errors: ['UPLOAD_NOT_FOUND', 'UPLOAD_CONFLICT', 'CHECKSUM_MISMATCH', ...anyBytes],
    free: true,
  }),
  cancelUpload: tus('DELETE', '/api/rooms/:roomId/uploads/:fileId', 'Cancel an upload', {
    description: 'Removes an unfinished upload.',
    parameters: [uploadId, tusResumable],
    successes: [{ status: 204, description: 'The upload was removed.', headers: ['Tus-Resumable'] }],
    errors: ['UPLOAD_NOT_FOUND', 'STORAGE_FULL'],
    free: true,
  }),
};
