/** Endpoints of rooms. */

import { details, idempotencyKey, roomAccess } from '../parameters.ts';
import * as schemas from '../schemas.ts';
import { anyBody, anyKeyed, anyRequest, anyRoom, type Endpoint } from './endpoint.ts';

const withoutDetails = {
  roomId: '7KQ2MX',
  expiresAt: '2026-11-15T10:30:00.000Z',
  hasPin: true,
  name: 'Kitchen table',
  deviceCount: 2,
  fileCount: 3,
  fileBytes: 34_567,
  limits: { textBytes: 1_048_576, fileBytes: 10_485_760, filesPerRoom: 100, fileBytesPerRoom: 104_857_600 },
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
      'only sealed data, every request needs `X-Room-Auth`, and its code starts with `E`, as no other does.',
    parameters: [idempotencyKey],
    body: { schema: schemas.createRoomRequest, required: false },
    successes: [
      { status: 201, description: 'The room was created.', schema: schemas.roomCreated, headers: ['RoomLocation'] },
    ],
    errors: [...anyRequest, ...anyBody, ...anyKeyed, 'ENCRYPTION_REQUIRED', 'STORAGE_FULL'],
    counted: true,
  },
  getRoom: {
    method: 'GET',
    path: '/api/rooms/:roomId',
    tag: 'Rooms',
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
    summary: 'Change a room',
    description:
      'Changes when the room expires, its PIN or its name, and leaves the rest as it is. Send at least one field. ' +
      '`expiresIn` counts from now, from 60 to {{roomMaxSeconds}} seconds, so a room can be extended or shortened. `pin` ' +
      'is the new PIN: send the current one as a header or in the query. A new PIN ends all locks of the room. Devices ' +
      'with a live channel stay in the room, and all others need the new PIN. An encrypted room cannot have a PIN.',
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
    summary: 'Delete a room',
    description: 'Deletes the room with its text and files, immediately and permanently.',
    parameters: roomAccess,
    body: { schema: schemas.pinOnlyRequest, required: false },
    successes: [{ status: 200, description: 'The room was deleted.', schema: schemas.confirmation }],
    errors: [...anyRoom, ...anyBody, 'STORAGE_FULL'],
    counted: true,
  },
} as const satisfies Record<string, Endpoint>;
