/** Endpoints for the operator of a server. They exist only if `POPROOM_ADMIN_TOKEN` is set. */

import * as schemas from '../admin-schemas.ts';
import { anyBody, confirms, type Endpoint, type Parameter, pageResponses } from './endpoint.ts';

const anyAdmin = { tag: 'Admin', counted: false, sameOriginOnly: true, isAdmin: true } as const;

const anyAdminError = [
  'VALIDATION_FAILED',
  'INVALID_ADMIN_TOKEN',
  'NOT_FOUND',
  'RATE_LIMITED',
  'INTERNAL',
  'UNAVAILABLE',
] as const;

const query = (name: string, description: string, example: string, pattern?: string): Parameter => ({
  name,
  in: 'query',
  description,
  example,
  ...(pattern && { pattern }),
});

const shortId = (name: string, description: string, example: string): Parameter => ({
  name,
  in: 'path',
  required: true,
  description,
  pattern: '^[0-9a-f]{10}$',
  example,
});

const limit = query('limit', 'The maximum length of the list, up to 200. Default: 50.', '50', '^[1-9][0-9]{0,2}$');
const offset = query('offset', 'How many entries to skip, up to 9800. Default: 0.', '0', '^[0-9]{1,4}$');

const room: Parameter = {
  name: 'room',
  in: 'path',
  required: true,
  description: 'The `id` of the room in the list, or its code.',
  example: '7KQ2MX',
};

const keyExample = {
  id: '0a1b2c3d4e',
  name: 'build-server',
  tier: 'pro',
  createdAt: '2026-11-01T09:30:00.000Z',
  lastUsedAt: '2026-11-15T09:30:00.000Z',
  requests: 120,
  refused: 3,
  received: 34_567,
  sent: 1_234_567,
};

const roomsExample = {
  total: 42,
  rooms: [
    {
      id: 'rpZ3kVw8q2s0xJ7cQm4hTnLbA6dYfUeRgpZ3kVw8q2s0xJ7',
      code: '7K****',
      createdAt: '2026-11-15T09:30:00.000Z',
      expiresAt: '2026-11-15T10:30:00.000Z',
      hasPin: false,
      fileCount: 1,
      fileBytes: 34_567,
      textBytes: 1234,
      deviceCount: 2,
      clientHash: '3f9c0a51be77',
    },
  ],
};

export const adminEndpoints = {
  adminPage: {
    ...anyAdmin,
    tag: 'Page',
    method: 'GET',
    path: '/admin',
    summary: 'Open the admin page',
    description: 'A page for the operator, with everything that `/api/admin` offers. It asks for the admin token.',
    successes: pageResponses,
    errors: ['VALIDATION_FAILED', 'ADDRESS_BLOCKED', 'NOT_FOUND', 'INTERNAL'],
  },
  adminNumbers: {
    ...anyAdmin,
    method: 'GET',
    path: '/api/admin/numbers',
    summary: 'Get numbers over time',
    description:
      'Returns the current numbers and those of the last hours, in intervals of 5 minutes for up to 24 hours and otherwise of an hour. ' +
      'They are the sums of all nodes. The server keeps them for 7 days.',
    parameters: [query('hours', 'How many hours, from 1 to 168. Default: 24.', '24', '^[1-9][0-9]{0,2}$')],
    successes: [{ status: 200, description: 'The numbers.', schema: schemas.adminNumbers }],
    errors: anyAdminError,
  },
  adminRooms: {
    ...anyAdmin,
    method: 'GET',
    path: '/api/admin/rooms',
    summary: 'List rooms by size or age',
    description:
      'Lists rooms without their content: no text, no names, no PINs. Codes are masked, because anyone with a code can read the room.',
    parameters: [
      query('sort', '`size` (default) or `age`: the largest or the oldest rooms first.', 'size', '^(size|age)$'),
      query('client', 'Only the rooms that the client with this hash created.', '3f9c0a51be77', '^[0-9a-f]{12}$'),
      limit,
      offset,
    ],
    successes: [{ status: 200, description: 'The rooms.', schema: schemas.adminRoomList, example: roomsExample }],
    errors: anyAdminError,
  },
  adminRevealRoom: {
    ...anyAdmin,
    method: 'POST',
    path: '/api/admin/rooms/:room/reveal',
    summary: 'Reveal the code of a room',
    description: 'Returns the code of a room. The server logs this, with the request id and the masked code.',
    parameters: [room],
    successes: [{ status: 200, description: 'The code.', schema: schemas.adminRoomRevealed }],
    errors: [...anyAdminError, 'ROOM_NOT_FOUND', 'ROOM_EXPIRED'],
  },
  adminRemoveRoom: {
    ...anyAdmin,
    method: 'DELETE',
    path: '/api/admin/rooms/:room',
    summary: 'Remove a room',
    description: 'Deletes a room for everyone, with its text and its files.',
    parameters: [room],
    successes: [confirms('The room was removed.', 'Room 7K**** was removed.')],
    errors: [...anyAdminError, 'ROOM_NOT_FOUND', 'ROOM_EXPIRED'],
  },
  adminReports: {
    ...anyAdmin,
    method: 'GET',
    path: '/api/admin/reports',
    summary: 'List reports of rooms',
    description:
      'Lists the reports about rooms of the last 30 days. To act on a report, remove its room, which also removes all ' +
      'reports about it, or dismiss the report.',
    parameters: [limit, offset],
    successes: [{ status: 200, description: 'The reports.', schema: schemas.adminReportList }],
    errors: anyAdminError,
  },
  adminDismissReport: {
    ...anyAdmin,
    method: 'DELETE',
    path: '/api/admin/reports/:reportId',
    summary: 'Dismiss a report',
    description: 'Removes a report, and leaves the room as it is.',
    parameters: [shortId('reportId', 'The id of the report.', '7d1e40c9ab')],
    successes: [confirms('The report was removed.')],
    errors: anyAdminError,
  },
  adminClients: {
    ...anyAdmin,
    method: 'GET',
    path: '/api/admin/clients',
    summary: 'List clients by use',
    description:
      'Lists the most active clients: API keys, IPv4 addresses and IPv6 /64s. The server keeps up to 1,000 clients of each hour, for 24 hours.',
    parameters: [
      query('sort', '`requests` (default), `refused` or `bytes`.', 'requests', '^(requests|refused|bytes)$'),
      query('hours', 'How many clock hours, the current one included, from 1 to 24. Default: 2.', '2', '^[1-9][0-9]?$'),
      limit,
      offset,
    ],
    successes: [{ status: 200, description: 'The clients.', schema: schemas.adminClientList }],
    errors: anyAdminError,
  },
  adminBlocks: {
    ...anyAdmin,
    method: 'GET',
    path: '/api/admin/blocks',
    summary: 'List blocked addresses',
    description: 'Lists the blocks in force.',
    successes: [{ status: 200, description: 'The blocks.', schema: schemas.adminBlockList }],
    errors: anyAdminError,
  },
  adminBlock: {
    ...anyAdmin,
    method: 'POST',
    path: '/api/admin/blocks',
    summary: 'Block addresses',
    description:
      'Refuses all requests from a range of addresses with `403 ADDRESS_BLOCKED` and closes their connections, on all nodes within a few seconds. ' +
      'A block of the same range is replaced. A range that contains your own address or that of the server needs `force`. ' +
      '`/api/admin`, `/livez`, `/readyz` and `/metrics` still respond to these addresses.',
    body: { schema: schemas.createBlockRequest, required: true },
    successes: [{ status: 201, description: 'The block.', schema: schemas.adminBlock }],
    errors: [...anyAdminError, ...anyBody],
  },
  adminUnblock: {
    ...anyAdmin,
    method: 'DELETE',
    path: '/api/admin/blocks/:blockId',
    summary: 'Unblock addresses',
    description: 'Removes a block.',
    parameters: [shortId('blockId', 'The id of the block.', '5e0c9ab412')],
    successes: [confirms('The block was removed.')],
    errors: anyAdminError,
  },
  adminKeys: {
    ...anyAdmin,
    method: 'GET',
    path: '/api/admin/keys',
    summary: 'List API keys and their use',
    description:
      'Lists all API keys with their use since the admin token was first set. The keys themselves are not stored.',
    parameters: [limit, offset],
    successes: [
      {
        status: 200,
        description: 'The keys.',
        schema: schemas.adminKeyList,
        example: { total: 3, keys: [keyExample] },
      },
    ],
    errors: anyAdminError,
  },
  adminRevokeKey: {
    ...anyAdmin,
    method: 'DELETE',
    path: '/api/admin/keys/:keyId',
    summary: 'Revoke an API key',
    description: 'Revokes a key on all nodes. This cannot be undone.',
    parameters: [shortId('keyId', 'The id of the key.', '0a1b2c3d4e')],
    successes: [
      {
        status: 200,
        description: 'The revoked key.',
        schema: schemas.adminKey,
        example: { ...keyExample, revokedAt: '2026-11-15T09:30:00.000Z' },
      },
    ],
    errors: anyAdminError,
  },
} as const satisfies Record<string, Endpoint>;
