/** Endpoints that upload files. */

import * as schemas from '../schemas.ts';
import {
  anyKeyedUpload,
  anyRoom,
  type Endpoint,
  fileMeta,
  idempotencyKey,
  type Parameter,
  roomAccess,
  tusResumable,
  uploadChecksum,
  uploadId,
  uploadLength,
  uploadMetadata,
  uploadOffset,
  uploadTicket,
} from './endpoint.ts';

const oneTime: Parameter = {
  name: 'once',
  in: 'query',
  description: 'With `true`: a one-time file, which is erased after one receipt.',
  example: 'true',
};

const fileErrors = ['FILE_TOO_LARGE', 'ROOM_FULL', 'ENCRYPTION_REQUIRED'] as const;
const tusErrors = ['UNSUPPORTED_VERSION'] as const;

export const uploadsEndpoints = {
  uploadFile: {
    method: 'POST',
    path: '/api/rooms/:roomId/upload',
    tag: 'Files',
    operation: 'addFile',
    summary: 'Upload a file to a room',
    description:
      'Uploads one file of at most {{fileSize}}: as a form with the part `file` (and, before it, `pin` if the PIN is not in a ' +
      'header), or as raw bytes with `Content-Type` and a name. In an encrypted room, the bytes are an encrypted file, and ' +
      'the sealed metadata replaces name, type and folder.',
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
    errors: [...anyRoom, ...anyKeyedUpload, ...fileErrors, 'QUOTA_EXCEEDED', 'UNSUPPORTED_MEDIA_TYPE', 'STORAGE_FULL'],
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
    errors: [...anyRoom, ...anyKeyedUpload, ...fileErrors, 'QUOTA_EXCEEDED', 'UNSUPPORTED_MEDIA_TYPE', 'STORAGE_FULL'],
    counted: true,
    acceptsUploadTicket: true,
  },
  createUpload: {
    method: 'POST',
    path: '/api/rooms/:roomId/uploads',
    tag: 'Files',
    operation: 'addFile',
    summary: 'Start a resumable upload',
    description:
      'Starts an upload by the tus protocol, version 1.0, for large files and bad connections. The ' +
      'response names its URL in `Location`. The request may contain the first bytes, as `application/offset+octet-stream`. An unfinished upload counts ' +
      'towards all limits, and ends after 24 hours or with its room.',
    // Without the optional body: clients that are generated for Go and Python cannot leave out one that is described.
    parameters: [...roomAccess, tusResumable, uploadLength, uploadMetadata, uploadChecksum, uploadTicket],
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
      ...fileErrors,
      'QUOTA_EXCEEDED',
      'CHECKSUM_MISMATCH',
      'UNSUPPORTED_MEDIA_TYPE',
      'STORAGE_FULL',
    ],
    counted: true,
    acceptsUploadTicket: true,
    isTus: true,
  },
  getUpload: {
    method: 'HEAD',
    path: '/api/rooms/:roomId/uploads/:fileId',
    tag: 'Files',
    operation: 'addFile',
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
    operation: 'addFile',
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
      'ENCRYPTION_REQUIRED',
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
    operation: 'addFile',
    summary: 'Cancel an upload',
    description: 'Removes an unfinished upload.',
    parameters: [...roomAccess, uploadId, tusResumable],
    successes: [{ status: 204, description: 'The upload was removed.', headers: ['Tus-Resumable'] }],
    errors: [...anyRoom, ...tusErrors, 'UPLOAD_NOT_FOUND', 'STORAGE_FULL'],
    counted: true,
    free: true,
    isTus: true,
  },
} as const satisfies Record<string, Endpoint>;
