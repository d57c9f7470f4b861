/** Endpoints of resumable uploads (tus). */
import {
  anyRoom,
  anyUpload,
  type Endpoint,
  endpointsWith,
  roomAccess,
  tusResumable,
  uploadChecksum,
  uploadId,
  uploadLength,
  uploadMetadata,
  uploadOffset,
  uploadTicket,
} from './endpoint.ts';

const tus = endpointsWith({ tag: 'Files', operation: 'addFile', counted: true, isTus: true });

const anyTusError = [...anyRoom, 'UNSUPPORTED_VERSION'] as const;

export const uploadsEndpoints = {
  createUpload: {
    ...tus('POST', '/api/rooms/:roomId/uploads', 'Start a resumable upload'),
    description:
      'Starts an upload with the tus protocol, version 1.0, for large files and bad connections. The response has its URL in ' +
      '`Location`. The request may contain the first bytes, as `application/offset+octet-stream`. An unfinished upload ' +
      'counts towards all limits, and ends after 24 hours or with its room.',
    // Without the optional body: clients that are generated for Go and Python cannot leave out one that is described.
    parameters: [...roomAccess, tusResumable, uploadLength, uploadMetadata, uploadChecksum, uploadTicket],
    successes: [
      {
        status: 201,
        description: 'The upload was started.',
        headers: ['UploadLocation', 'Upload-Offset', 'Upload-Metadata', 'Upload-Expires', 'Tus-Resumable'],
      },
    ],
    errors: [...anyTusError, ...anyUpload, 'CHECKSUM_MISMATCH'],
    acceptsUploadTicket: true,
  },
  getUpload: {
    ...tus('HEAD', '/api/rooms/:roomId/uploads/:fileId', 'Get the progress of an upload'),
    description: 'Returns how many bytes the server has, so that a client can continue after an interruption.',
    parameters: [...roomAccess, uploadId, tusResumable],
    successes: [
      {
        status: 200,
        description: 'The progress.',
        headers: ['Upload-Offset', 'Upload-Length', 'Upload-Metadata', 'Upload-Expires', 'Tus-Resumable'],
      },
    ],
    errors: [...anyTusError, 'UPLOAD_NOT_FOUND'],
    free: true,
  },
  continueUpload: {
    ...tus('PATCH', '/api/rooms/:roomId/uploads/:fileId', 'Continue an upload'),
    description:
      'Sends the bytes from `Upload-Offset` on. The server keeps bytes that arrive before an interruption. After the last ' +
      'byte, the file is in the room: its id is the id of the upload, and the response has its URL in `X-File-Url`.',
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
      ...anyTusError,
      'UPLOAD_NOT_FOUND',
      'UPLOAD_CONFLICT',
      'ENCRYPTION_REQUIRED',
      'FILE_TOO_LARGE',
      'CHECKSUM_MISMATCH',
      'UNSUPPORTED_MEDIA_TYPE',
      'STORAGE_FULL',
    ],
    free: true,
  },
  cancelUpload: {
    ...tus('DELETE', '/api/rooms/:roomId/uploads/:fileId', 'Cancel an upload'),
    description: 'Removes an unfinished upload.',
    parameters: [...roomAccess, uploadId, tusResumable],
    successes: [{ status: 204, description: 'The upload was removed.', headers: ['Tus-Resumable'] }],
    errors: [...anyTusError, 'UPLOAD_NOT_FOUND', 'STORAGE_FULL'],
    free: true,
  },
} as const satisfies Record<string, Endpoint>;
