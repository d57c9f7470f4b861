/** The schemas of the bodies under /api/admin. */
import {
  bounded,
  described,
  encrypted,
  flag,
  hasPin,
  matching,
  natural,
  object,
  objectWith,
  oneOf,
  reportReason,
  roomId,
  string,
  timestamp,
} from './fields.ts';

/** Identifies a room without its code. */
export const roomHandle = matching(
  '^r[A-Za-z0-9_-]{30,60}$',
  'identifies the room in this API, without its code',
  'rpZ3kVw8q2s0xJ7cQm4hTnLbA6dYfUeRg',
);

const maskedCode = matching(
  '^[0-9A-HJKMNP-TV-Z]{2}[*]{4,10}$',
  'the room code, masked: anyone with the code can read the room',
  '7K****',
);

const traffic = {
  requests: natural('requests', 120),
  refused: natural('requests that were refused, with a status from 400 to 499', 3),
  received: natural('bytes received', 34_567),
  sent: natural('bytes sent', 1_234_567),
} as const;

export const adminPoint = object({
  at: timestamp('the start of the interval'),
  ...traffic,
  failed: natural('requests that failed because of the server, with a status of 500 or more', 0),
  roomsCreated: natural('rooms created', 7),
  rooms: natural('the last known number of rooms', 42),
  channels: natural('the maximum number of open live channels', 12),
  storedBytes: natural('the last known bytes of all files', 34_567_890),
});

export const adminNumbers = object({
  intervalSeconds: natural('the length of an interval', 300),
  nodes: natural('the servers that reported within the last minute', 1),
  rooms: natural('rooms that have not expired', 42),
  channels: natural('open live channels on all nodes', 12),
  storedBytes: natural('bytes of all files', 34_567_890),
  points: {
    type: 'array',
    items: adminPoint,
    description:
      'the numbers of each interval, summed over all nodes, oldest first; intervals without a report are missing',
  },
});

export const adminRoom = object({
  id: roomHandle,
  code: maskedCode,
  createdAt: timestamp('when the room was created'),
  expiresAt: timestamp('when the room expires', '2026-11-15T10:30:00.000Z'),
  hasPin,
  'encrypted?': encrypted,
  fileCount: natural('the number of files', 3),
  fileBytes: natural('the bytes of all files', 34_567),
  textBytes: natural('approximate bytes of the text and its history', 1234),
  deviceCount: natural('the devices in the room', 2),
  'clientHash?': string('the hash of the client that created the room, as in the log', '3f9c0a51be77'),
  'createdBy?': objectWith({
    description: 'who created the room: the user that the proxy named, or an API key',
    properties: {
      type: { type: 'string', enum: ['user', 'key'] },
      name: string('the name of the user or of the key', 'alice'),
    },
  }),
});

/** A part of a list, and how long the whole list is. */
const listOf = (name: string, items: object, total: object, description?: string) =>
  object({ total, [name]: { type: 'array', items, ...(description && { description }) } });

export const adminRoomList = listOf('rooms', adminRoom, natural('the number of all rooms that match', 42));

export const adminRoomRevealed = object({ roomId });

export const adminReport = object({
  id: matching('^[0-9a-f]{10}$', 'the id of the report', '7d1e40c9ab'),
  'room?': described(roomHandle, 'identifies the room in this API; missing if the room has ended'),
  code: maskedCode,
  reason: reportReason,
  'comment?': string('the comment of the reporter', 'The file setup.exe is a virus.'),
  createdAt: timestamp('when the room was reported'),
  clientHash: string('the hash of the client that sent the report, as in the log', '3f9c0a51be77'),
});

export const adminReportList = listOf(
  'reports',
  adminReport,
  natural('the number of all open reports', 1),
  'newest first',
);

export const adminClient = object({
  client: string('an IPv4 address, an IPv6 /64, or `key:` and the id of an API key', '203.0.113.7'),
  clientHash: string('the hash of the client, as in the log', '3f9c0a51be77'),
  ...traffic,
});

export const adminClientList = listOf('clients', adminClient, natural('the number of known clients', 42));

export const adminBlock = object({
  id: matching('^[0-9a-f]{10}$', 'the id of the block', '5e0c9ab412'),
  range: string('the blocked addresses, as a CIDR range', '198.51.100.0/24'),
  reason: string('a note for operators', 'automated sign-ups'),
  createdAt: timestamp('when the block was made'),
  'endsAt?': timestamp('when the block ends; missing if it has no end', '2026-11-16T09:30:00.000Z'),
});

export const adminBlockList = object({
  maximum: natural('the maximum number of blocks', 500),
  blocks: { type: 'array', items: adminBlock, description: 'the blocks in force, newest first' },
});

export const createBlockRequest = object({
  range: bounded('string', { maxLength: 60 }, 'an IPv4 or IPv6 address, or a CIDR range', '198.51.100.0/24'),
  reason: bounded(
    'string',
    { minLength: 1, maxLength: 200 },
    'a note for operators; clients do not see it',
    'automated sign-ups',
  ),
  'expiresIn?': bounded(
    'integer',
    { minimum: 60, maximum: 315_360_000 },
    'seconds until the block ends; without it, the block stays until it is removed',
    86_400,
  ),
  'force?': flag('block the range although it contains your own address or this machine', false),
});

export const adminKey = object({
  id: string('the id of the key', '0a1b2c3d4e'),
  name: string('the name that the operator gave it', 'build-server'),
  tier: oneOf(['free', 'pro'], 'the tier of its rate limit', 'pro'),
  createdAt: timestamp('when the key was created'),
  'revokedAt?': timestamp('when the key was revoked; missing if it is active'),
  'lastUsedAt?': timestamp('when the key was last used; missing if it has not been used'),
  ...traffic,
});

export const adminKeyList = listOf('keys', adminKey, natural('the number of all keys', 3), 'newest first');
