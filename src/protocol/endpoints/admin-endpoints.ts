/** Endpoints for the operator of a server. They exist only if `POPROOM_ADMIN_TOKEN` is set. */
import * as schemas from '../admin-schemas.ts';
import { confirms, endpointsWith, inPath, inQuery, pages, responds } from './endpoint.ts';

const admin = endpointsWith({
  tag: 'Admin',
  errors: ['INVALID_ADMIN_TOKEN', 'NOT_FOUND', 'RATE_LIMITED', 'UNAVAILABLE'],
  counted: false,
  sameOriginOnly: true,
  isAdmin: true,
});

const shortId = (name: string, description: string, example: string) =>
  inPath(name, description, example, '^[0-9a-f]{10}$');

const limit = inQuery('limit', 'The maximum length of the list, up to 200. Default: 50.', '50', '^[1-9][0-9]{0,2}$');
const offset = inQuery('offset', 'How many entries to skip, up to 9800. Default: 0.', '0', '^[0-9]{1,4}$');

const room = inPath('room', 'The `id` of the room in the list, or its code.', '7KQ2MX');

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
  adminPage: pages('GET', '/admin', 'Open the admin page', {
    description: 'A page for the operator, with everything that `/api/admin` offers. It asks for the admin token.',
    isAdmin: true,
  }),
  adminNumbers: admin('GET', '/api/admin/numbers', 'Get numbers over time', {
    description:
      'Returns the current numbers and those of the last hours, in intervals of 5 minutes for up to 24 hours and otherwise of an hour. ' +
      'They are the sums of all nodes. The server keeps them for 7 days.',
    parameters: [inQuery('hours', 'How many hours, from 1 to 168. Default: 24.', '24', '^[1-9][0-9]{0,2}$')],
    successes: [responds('The numbers.', schemas.adminNumbers)],
  }),
  adminRooms: admin('GET', '/api/admin/rooms', 'List rooms by size or age', {
    description:
      'Lists rooms without their content: no text, no names, no PINs. Codes are masked, because anyone with a code can read the room.',
    parameters: [
      inQuery('sort', '`size` (default) or `age`: the largest or the oldest rooms first.', 'size', '^(size|age)$'),
      inQuery('client', 'Only the rooms that the client with this hash created.', '3f9c0a51be77', '^[0-9a-f]{12}$'),
      limit,
      offset,
    ],
    successes: [responds('The rooms.', schemas.adminRoomList, { example: roomsExample })],
  }),
  adminRevealRoom: admin('POST', '/api/admin/rooms/:room/reveal', 'Reveal the code of a room', {
    description: 'Returns the code of a room. The server logs this, with the request id and the masked code.',
    parameters: [room],
    successes: [responds('The code.', schemas.adminRoomRevealed)],
    errors: ['ROOM_NOT_FOUND', 'ROOM_EXPIRED'],
  }),
  adminRemoveRoom: admin('DELETE', '/api/admin/rooms/:room', 'Remove a room', {
    description: 'Deletes a room for everyone, with its text and its files.',
    parameters: [room],
    successes: [confirms('The room was removed.', 'Room 7K**** was removed.')],
    errors: ['ROOM_NOT_FOUND', 'ROOM_EXPIRED'],
  }),
  adminReports: admin('GET', '/api/admin/reports', 'List reports of rooms', {
    description:
      'Lists the reports about rooms of the last 30 days. To act on a report, remove its room, which also removes all ' +
      'reports about it, or dismiss the report.',
    parameters: [limit, offset],
    successes: [responds('The reports.', schemas.adminReportList)],
  }),
  adminDismissReport: admin('DELETE', '/api/admin/reports/:reportId', 'Dismiss a report', {
    description: 'Removes a report, and leaves the room as it is.',
    parameters: [shortId('reportId', 'The id of the report.', '7d1e40c9ab')],
    successes: [confirms('The report was removed.')],
  }),
  adminClients: admin('GET', '/api/admin/clients', 'List clients by use', {
    description:
      'Lists the most active clients: API keys, IPv4 addresses and IPv6 /64s. The server keeps up to 1,000 clients of each hour, for 24 hours.',
    parameters: [
      inQuery('sort', '`requests` (default), `refused` or `bytes`.', 'requests', '^(requests|refused|bytes)$'),
      inQuery(
        'hours',
        'How many clock hours, the current one included, from 1 to 24. Default: 2.',
        '2',
        '^[1-9][0-9]?$',
      ),
      limit,
      offset,
    ],
    successes: [responds('The clients.', schemas.adminClientList)],
  }),
  adminBlocks: admin('GET', '/api/admin/blocks', 'List blocked addresses', {
    description: 'Lists the blocks in force.',
    successes: [responds('The blocks.', schemas.adminBlockList)],
  }),
  adminBlock: admin('POST', '/api/admin/blocks', 'Block addresses', {
    description:
      'Refuses all requests from a range of addresses with `403 ADDRESS_BLOCKED` and closes their connections, on all nodes within a few seconds. ' +
      'A block of the same range is replaced. A range that contains your own address or that of the server needs `force`. ' +
      '`/api/admin`, `/livez`, `/readyz` and `/metrics` still respond to these addresses.',
    body: { schema: schemas.createBlockRequest, required: true },
    successes: [responds('The block.', schemas.adminBlock, { status: 201 })],
  }),
  adminUnblock: admin('DELETE', '/api/admin/blocks/:blockId', 'Unblock addresses', {
    description: 'Removes a block.',
    parameters: [shortId('blockId', 'The id of the block.', '5e0c9ab412')],
    successes: [confirms('The block was removed.')],
  }),
  adminKeys: admin('GET', '/api/admin/keys', 'List API keys and their use', {
    description:
      'Lists all API keys with their use since the admin token was first set. The keys themselves are not stored.',
    parameters: [limit, offset],
    successes: [responds('The keys.', schemas.adminKeyList, { example: { total: 3, keys: [keyExample] } })],
  }),
  adminRevokeKey: admin('DELETE', '/api/admin/keys/:keyId', 'Revoke an API key', {
    description: 'Revokes a key on all nodes. This cannot be undone.',
    parameters: [shortId('keyId', 'The id of the key.', '0a1b2c3d4e')],
    successes: [
      responds('The revoked key.', schemas.adminKey, {
        example: { ...keyExample, revokedAt: '2026-11-15T09:30:00.000Z' },
      }),
    ],
  }),
};
