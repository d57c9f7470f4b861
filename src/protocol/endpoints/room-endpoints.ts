/** Endpoints of rooms and of their live channels. */
import { resumeToken } from '../fields.ts';
import { defaultRoomLimits } from '../limits.ts';
import { resumeHeader } from '../live-protocol.ts';
import * as schemas from '../schemas.ts';
import {
  anyBody,
  anyKeyed,
  anyRequest,
  anyRoom,
  confirms,
  createPassword,
  details,
  type Endpoint,
  idempotencyKey,
  linkId,
  roomAccess,
  roomId,
} from './endpoint.ts';

const withoutDetails = {
  roomId: '7KQ2MX',
  expiresAt: '2026-11-15T10:30:00.000Z',
  hasPin: true,
  name: 'Kitchen table',
  deviceCount: 2,
  fileCount: 3,
  fileBytes: 34_567,
  limits: defaultRoomLimits,
};

export const roomsEndpoints = {
  createRoom: {
    method: 'POST',
    path: '/api/rooms',
    tag: 'Rooms',
    summary: 'Create a room',
    description:
      'Creates a room, optionally with a PIN, a name and a lifetime. The body is optional. A room expires after {{roomLifetime}}, ' +
      'or after `expiresIn` seconds: from 60 to {{roomMaxSeconds}}. With `encryption`, the room is encrypted: it stores ' +
      'only sealed data, and every request needs `X-Room-Auth`. {{createRule}}',
    parameters: [idempotencyKey, createPassword],
    body: { schema: schemas.createRoomRequest, required: false },
    successes: [
      { status: 201, description: 'The room was created.', schema: schemas.roomCreated, headers: ['RoomLocation'] },
    ],
    errors: [
      ...anyRequest,
      ...anyBody,
      ...anyKeyed,
      'PASSWORD_REQUIRED',
      'PASSWORD_INCORRECT',
      'SIGN_IN_REQUIRED',
      'ENCRYPTION_REQUIRED',
      'STORAGE_FULL',
    ],
    counted: true,
  },
  getRoom: {
    method: 'GET',
    path: '/api/rooms/:roomId',
    tag: 'Rooms',
    operation: 'readRoom',
    summary: 'Get room information',
    description:
      'Returns when the room expires, whether it has a PIN, and how many devices are in it. With `details=true`, a single ' +
      'request also returns the version and the size of the text, and the list of files.',
    parameters: [...roomAccess, details],
    successes: [{ status: 200, description: 'The room.', schema: schemas.roomDetails, example: withoutDetails }],
    errors: anyRoom,
    counted: true,
  },
  updateRoom: {
    method: 'PATCH',
    path: '/api/rooms/:roomId',
    tag: 'Rooms',
    operation: 'changeRoom',
    summary: 'Change a room',
    description:
      'Changes when the room expires, its PIN or its name, and leaves the rest as it is. Send at least one field. ' +
      '`expiresIn` is the time left from now in seconds, from 60 to {{roomMaxSeconds}}, and can be longer or shorter than ' +
      'before. `pin` is the new PIN: send the current one in a header or the query. A new PIN ends all locks of the room. ' +
      'Devices with a live channel stay in the room, and all others need the new PIN. An encrypted room cannot have a PIN.',
    parameters: roomAccess,
    body: { schema: schemas.updateRoomRequest, required: true },
    successes: [{ status: 200, description: 'The room after the change.', schema: schemas.roomInfo }],
    errors: [...anyRoom, ...anyBody, 'ENCRYPTION_REQUIRED', 'STORAGE_FULL'],
    counted: true,
  },
  deleteRoom: {
    method: 'DELETE',
    path: '/api/rooms/:roomId',
    tag: 'Rooms',
    operation: 'changeRoom',
    summary: 'Delete a room',
    description: 'Deletes the room with its text and files, immediately and permanently.',
    parameters: roomAccess,
    body: { schema: schemas.pinOnlyRequest, required: false },
    successes: [confirms('The room was deleted.', 'Room 7KQ2MX was deleted.')],
    errors: [...anyRoom, ...anyBody, 'STORAGE_FULL'],
    counted: true,
  },
  createLink: {
    method: 'POST',
    path: '/api/rooms/:roomId/links',
    tag: 'Rooms',
    operation: 'manageLinks',
    summary: 'Create a link with a role',
    description:
      'Creates another id for the room, with fewer rights than its code: `read` for its information, text and files, ' +
      '`drop` for adding files without seeing anything. It works in every path in place of the room code, needs no PIN, ' +
      'and reveals nothing about the code. A room has at most 20 links, and they end with it.',
    parameters: roomAccess,
    body: { schema: schemas.createLinkRequest, required: true },
    successes: [{ status: 201, description: 'The link was created.', schema: schemas.link }],
    errors: [...anyRoom, ...anyBody, 'TOO_MANY_LINKS', 'ENCRYPTION_REQUIRED', 'STORAGE_FULL'],
    counted: true,
  },
  listLinks: {
    method: 'GET',
    path: '/api/rooms/:roomId/links',
    tag: 'Rooms',
    operation: 'manageLinks',
    summary: 'List the links of a room',
    description: 'Returns all links that have not expired, with the time of their last use.',
    parameters: roomAccess,
    successes: [{ status: 200, description: 'The links.', schema: schemas.linkList }],
    errors: anyRoom,
    counted: true,
  },
  revokeLink: {
    method: 'DELETE',
    path: '/api/rooms/:roomId/links/:linkId',
    tag: 'Rooms',
    operation: 'manageLinks',
    summary: 'Revoke a link',
    description:
      'Ends a link immediately: its live channels are closed, and its running and unfinished uploads add no file. If its ' +
      'holders have kept the URL of a file, they can read it until the file is removed or the room ends.',
    parameters: [...roomAccess, linkId],
    body: { schema: schemas.pinOnlyRequest, required: false },
    successes: [confirms('The link was revoked.')],
    errors: [...anyRoom, ...anyBody, 'NOT_FOUND', 'STORAGE_FULL'],
    counted: true,
  },
  reportRoom: {
    method: 'POST',
    path: '/api/rooms/:roomId/reports',
    tag: 'Rooms',
    operation: 'reportRoom',
    summary: 'Report a room',
    description:
      'Reports the room to the operator, with a reason and a comment. The report contains no text and no files. A second ' +
      'report by the same client about the room replaces the first one. Exists only if `reports` in `GET /api/limits` is true.',
    parameters: roomAccess,
    body: { schema: schemas.createReportRequest, required: true },
    successes: [{ ...confirms('The operator can see your report.'), status: 201 }],
    errors: [...anyRoom, ...anyBody, 'NOT_FOUND', 'TOO_MANY_REPORTS', 'STORAGE_FULL'],
    counted: true,
  },
  createToken: {
    method: 'POST',
    path: '/api/create-token',
    tag: 'Rooms',
    summary: 'Get a token for creating rooms',
    description:
      'Only on a server that requires a password for creating rooms. Exchanges the password for a token, which a device ' +
      'can keep instead: it works as `X-Create-Password` for 30 days, or until the operator changes the password.',
    body: { schema: schemas.createTokenRequest, required: true },
    successes: [{ status: 200, description: 'The token.', schema: schemas.createTokenIssued }],
    errors: [...anyRequest, ...anyBody, 'PASSWORD_INCORRECT', 'NOT_FOUND'],
    counted: true,
  },
} as const satisfies Record<string, Endpoint>;

export const liveEndpoints = {
  roomEvents: {
    method: 'GET',
    path: '/api/rooms/:roomId/events',
    tag: 'Live',
    operation: 'followRoom',
    summary: 'Follow a room over server-sent events',
    description:
      'A stream of all changes in the room, starting with a `snapshot`, for `curl -N` and `EventSource`. ' +
      '`/api/asyncapi.json` describes the messages. Opening the stream counts as one request, unless it resumes another stream.',
    parameters: [
      ...roomAccess,
      {
        name: 'deviceId',
        in: 'query',
        description: 'The device id, instead of the header `X-Device-Id`.',
        example: 'my-phone',
      },
      { name: 'deviceName', in: 'query', description: 'The display name of the device.', example: 'Chrome on Android' },
      {
        name: 'carets',
        in: 'query',
        description: '`true` to receive the carets of other devices.',
        example: 'true',
      },
      {
        name: 'Last-Event-ID',
        in: 'header',
        description: 'The last `seq` that you received. The server sends a snapshot only if you missed something.',
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
    errors: [...anyRoom, 'ENCRYPTION_REQUIRED'],
    counted: true,
    resumable: true,
  },
  liveChannel: {
    method: 'GET',
    path: '/api/rooms/:roomId/live',
    tag: 'Live',
    operation: 'followRoom',
    summary: 'Join a room over WebSocket',
    description:
      'A bidirectional channel. Send `join` as the first message, within 5 seconds, with the PIN or `auth` if the room needs it. ' +
      '`/api/asyncapi.json` describes the messages. Opening the channel counts as one request; messages do not count. To resume a ' +
      'channel that ended at most 10 minutes ago, offer the subprotocols `poproom` and `resume.` followed by its latest ' +
      '`resumeToken`. The new channel then needs no PIN, does not count as a request, and opens even if the request limit ' +
      'is used up.',
    parameters: [roomId],
    successes: [
      { status: 101, description: 'The channel is open. Send `join`.' },
      { status: 200, description: 'The same over HTTP/2 (RFC 8441), if a proxy in front of the server supports it.' },
    ],
    errors: [...anyRequest, 'ORIGIN_NOT_ALLOWED', 'UPGRADE_REQUIRED'],
    counted: true,
  },
} as const satisfies Record<string, Endpoint>;
