/** Endpoints of the live channel. */

import { resumeToken } from '../fields.ts';
import { roomAccess, roomId } from '../parameters.ts';
import { resumeHeader } from '../resume.ts';
import { anyRequest, anyRoom, type Endpoint } from './endpoint.ts';

export const liveEndpoints = {
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
    errors: [...anyRoom, 'ENCRYPTION_REQUIRED'],
    counted: true,
    resumable: true,
  },
  liveChannel: {
    method: 'GET',
    path: '/api/rooms/:roomId/live',
    tag: 'Live',
    summary: 'Join a room over WebSocket',
    description:
      'A bidirectional channel. Send `join` as the first message, within 5 seconds, with the PIN or `auth` if the room needs it. See ' +
      '/api/asyncapi.json for the messages. Opening the channel counts as one request; messages do not count. To resume a ' +
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
