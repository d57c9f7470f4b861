/** Endpoints of rooms and of their live channels. */
import { resumeToken } from '../fields.ts';
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
  endpointsWith,
  idempotencyKey,
  inHeader,
  inQuery,
  linkId,
  responds,
  roomAccess,
  roomId,
} from './endpoint.ts';

const rooms = endpointsWith({ tag: 'Rooms', counted: true });

export const roomsEndpoints = {
  createRoom: {
    ...rooms('POST', '/api/rooms', 'Create a room'),
    description:
      'Creates a room, optionally with a PIN, a name and a lifetime. The body is optional. A room expires after {{roomLifetime}}, ' +
      'or after `expiresIn` seconds: from 60 to {{roomMaxSeconds}}. With `encryption`, the room is encrypted: it stores ' +
      'only sealed data, and every request needs `X-Room-Auth`. {{createRule}}',
    parameters: [idempotencyKey, createPassword],
    body: { schema: schemas.createRoomRequest, required: false },
    successes: [responds('The room was created.', schemas.roomCreated, { status: 201, headers: ['RoomLocation'] })],
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
  },
  getRoom: {
    ...rooms('GET', '/api/rooms/:roomId', 'Get room information', 'readRoom'),
    description:
      'Returns when the room expires, whether it has a PIN, and how many devices are in it. With `details=true`, a single ' +
      'request also returns the version and the size of the text, and the list of files.',
    parameters: [...roomAccess, details],
    successes: [responds('The room.', schemas.roomDetails)],
    errors: anyRoom,
  },
  updateRoom: {
    ...rooms('PATCH', '/api/rooms/:roomId', 'Change a room', 'changeRoom'),
    description:
      'Changes when the room expires, its PIN or its name, and leaves the rest as it is. Send at least one field. ' +
      '`expiresIn` is the time left from now in seconds, from 60 to {{roomMaxSeconds}}, and can be longer or shorter than ' +
      'before. `pin` is the new PIN: send the current one in a header or the query. A new PIN ends all locks of the room. ' +
      'Devices with a live channel stay in the room, and all others need the new PIN. An encrypted room cannot have a PIN.',
    parameters: roomAccess,
    body: { schema: schemas.updateRoomRequest, required: true },
    successes: [responds('The room after the change.', schemas.roomInfo)],
    errors: [...anyRoom, ...anyBody, 'ENCRYPTION_REQUIRED', 'STORAGE_FULL'],
  },
  deleteRoom: {
    ...rooms('DELETE', '/api/rooms/:roomId', 'Delete a room', 'changeRoom'),
    description: 'Deletes the room with its text and files, immediately and permanently.',
    parameters: roomAccess,
    body: { schema: schemas.pinOnlyRequest, required: false },
    successes: [confirms('The room was deleted.', 'Room 7KQ2MX was deleted.')],
    errors: [...anyRoom, ...anyBody, 'STORAGE_FULL'],
  },
  createLink: {
    ...rooms('POST', '/api/rooms/:roomId/links', 'Create a link with a role', 'manageLinks'),
    description:
      'Creates another id for the room, with fewer rights than its code: `read` for its information, text and files, ' +
      '`drop` for adding files without seeing anything. It works in every path in place of the room code, needs no PIN, ' +
      'and reveals nothing about the code. A room has at most 20 links, and they end with it.',
    parameters: roomAccess,
    body: { schema: schemas.createLinkRequest, required: true },
    successes: [responds('The link was created.', schemas.link, { status: 201 })],
    errors: [...anyRoom, ...anyBody, 'TOO_MANY_LINKS', 'ENCRYPTION_REQUIRED', 'STORAGE_FULL'],
  },
  listLinks: {
    ...rooms('GET', '/api/rooms/:roomId/links', 'List the links of a room', 'manageLinks'),
    description: 'Returns all links that have not expired, with the time of their last use.',
    parameters: roomAccess,
    successes: [responds('The links.', schemas.linkList)],
    errors: anyRoom,
  },
  revokeLink: {
    ...rooms('DELETE', '/api/rooms/:roomId/links/:linkId', 'Revoke a link', 'manageLinks'),
    description:
      'Ends a link immediately: its live channels are closed, and its running and unfinished uploads add no file. If its ' +
      'holders have kept the URL of a file, they can read it until the file is removed or the room ends.',
    parameters: [...roomAccess, linkId],
    body: { schema: schemas.pinOnlyRequest, required: false },
    successes: [confirms('The link was revoked.')],
    errors: [...anyRoom, ...anyBody, 'NOT_FOUND', 'STORAGE_FULL'],
  },
  reportRoom: {
    ...rooms('POST', '/api/rooms/:roomId/reports', 'Report a room', 'reportRoom'),
    description:
      'Reports the room to the operator, with a reason and a comment. The report contains no text and no files. A second ' +
      'report by the same client about the room replaces the first one. Exists only if `reports` in `GET /api/limits` is true.',
    parameters: roomAccess,
    body: { schema: schemas.createReportRequest, required: true },
    successes: [{ ...confirms('The operator can see your report.'), status: 201 }],
    errors: [...anyRoom, ...anyBody, 'NOT_FOUND', 'TOO_MANY_REPORTS', 'STORAGE_FULL'],
  },
  createToken: {
    ...rooms('POST', '/api/create-token', 'Get a token for creating rooms'),
    description:
      'Only on a server that requires a password for creating rooms. Exchanges the password for a token, which a device ' +
      'can keep instead: it works as `X-Create-Password` for 30 days, or until the operator changes the password.',
    body: { schema: schemas.createTokenRequest, required: true },
    successes: [responds('The token.', schemas.createTokenIssued)],
    errors: [...anyRequest, ...anyBody, 'PASSWORD_INCORRECT', 'NOT_FOUND'],
  },
} as const satisfies Record<string, Endpoint>;

const live = endpointsWith({ tag: 'Live', operation: 'followRoom', counted: true });

export const liveEndpoints = {
  roomEvents: {
    ...live('GET', '/api/rooms/:roomId/events', 'Follow a room over server-sent events'),
    description:
      'A stream of all changes in the room, starting with a `snapshot`, for `curl -N` and `EventSource`. ' +
      '`/api/asyncapi.json` describes the messages. Opening the stream counts as one request, unless it resumes another stream.',
    parameters: [
      ...roomAccess,
      inQuery('deviceId', 'The device id, instead of the header `X-Device-Id`.', 'my-phone'),
      inQuery('deviceName', 'The display name of the device.', 'Chrome on Android'),
      inQuery('carets', '`true` to receive the carets of other devices.', 'true'),
      inHeader(
        'Last-Event-ID',
        'The last `seq` that you received. The server sends a snapshot only if you missed something.',
        '12',
      ),
      inHeader(
        resumeHeader,
        'The latest `resumeToken` of a stream of this room that ended at most 10 minutes ago. The new stream then needs no ' +
          'PIN, does not count as a request, and opens even if the request limit is used up.',
        resumeToken.examples[0],
      ),
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
    resumable: true,
  },
  liveChannel: {
    ...live('GET', '/api/rooms/:roomId/live', 'Join a room over WebSocket'),
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
  },
} as const satisfies Record<string, Endpoint>;
