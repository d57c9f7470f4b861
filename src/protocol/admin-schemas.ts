/** The schemas of the bodies under /api/admin. */
import { encrypted, hasPin, reportReason, roomId, timestamp } from './fields.ts';

const count = (description: string, example: number) =>
  ({ type: 'integer', minimum: 0, description, examples: [example] }) as const;

/** Identifies a room without its code. */
export const roomHandle = {
  type: 'string',
  pattern: '^r[A-Za-z0-9_-]{30,60}$',
  description: 'identifies the room in this API, without its code',
  examples: ['rpZ3kVw8q2s0xJ7cQm4hTnLbA6dYfUeRg'],
} as const;

const maskedCode = {
  type: 'string',
  pattern: '^[0-9A-HJKMNP-TV-Z]{2}[*]{4,10}$',
  description: 'the room code, masked: anyone with the code can read the room',
  examples: ['7K****'],
} as const;

const traffic = {
  requests: count('requests', 120),
  refused: count('requests that were refused, with a status from 400 to 499', 3),
  received: count('bytes received', 34_567),
  sent: count('bytes sent', 1_234_567),
} as const;

const trafficNames = ['requests', 'refused', 'received', 'sent'] as const;

export const adminPoint = {
  type: 'object',
  additionalProperties: false,
  required: ['at', ...trafficNames, 'failed', 'roomsCreated', 'rooms', 'channels', 'storedBytes'],
  properties: {
    at: timestamp('the start of the interval'),
    ...traffic,
    failed: count('requests that failed because of the server, with a status of 500 or more', 0),
    roomsCreated: count('rooms created', 7),
    rooms: count('the last known number of rooms', 42),
    channels: count('the maximum number of open live channels', 12),
    storedBytes: count('the last known bytes of all files', 34_567_890),
  },
} as const;

export const adminNumbers = {
  type: 'object',
  additionalProperties: false,
  required: ['intervalSeconds', 'nodes', 'rooms', 'channels', 'storedBytes', 'points'],
  properties: {
    intervalSeconds: count('the length of an interval', 300),
    nodes: count('the servers that reported within the last minute', 1),
    rooms: count('rooms that have not expired', 42),
    channels: count('open live channels on all nodes', 12),
    storedBytes: count('bytes of all files', 34_567_890),
    points: {
      type: 'array',
      items: adminPoint,
      description:
        'the numbers of each interval, summed over all nodes, oldest first; intervals without a report are missing',
    },
  },
} as const;

export const adminRoom = {
  type: 'object',
  additionalProperties: false,
  required: ['id', 'code', 'createdAt', 'expiresAt', 'hasPin', 'fileCount', 'fileBytes', 'textBytes', 'deviceCount'],
  properties: {
    id: roomHandle,
    code: maskedCode,
    createdAt: timestamp('when the room was created'),
    expiresAt: timestamp('when the room expires', '2026-11-15T10:30:00.000Z'),
    hasPin,
    encrypted,
    fileCount: count('the number of files', 3),
    fileBytes: count('the bytes of all files', 34_567),
    textBytes: count('approximate bytes of the text and its history', 1234),
    deviceCount: count('the devices in the room', 2),
    clientHash: {
      type: 'string',
      description: 'the hash of the client that created the room, as in the log',
      examples: ['3f9c0a51be77'],
    },
    createdBy: {
      type: 'object',
      additionalProperties: false,
      required: ['type', 'name'],
      description: 'who created the room: the user that the proxy named, or an API key',
      properties: {
        type: { type: 'string', enum: ['user', 'key'] },
        name: { type: 'string', description: 'the name of the user or of the key', examples: ['alice'] },
      },
    },
  },
} as const;

export const adminRoomList = {
  type: 'object',
  additionalProperties: false,
  required: ['total', 'rooms'],
  properties: {
    total: count('the number of all rooms that match', 42),
    rooms: { type: 'array', items: adminRoom },
  },
} as const;

export const adminRoomRevealed = {
  type: 'object',
  additionalProperties: false,
  required: ['roomId'],
  properties: { roomId },
} as const;

export const adminReport = {
  type: 'object',
  additionalProperties: false,
  required: ['id', 'code', 'reason', 'createdAt', 'clientHash'],
  properties: {
    id: { type: 'string', pattern: '^[0-9a-f]{10}$', description: 'the id of the report', examples: ['7d1e40c9ab'] },
    room: { ...roomHandle, description: 'identifies the room in this API; missing if the room has ended' },
    code: maskedCode,
    reason: reportReason,
    comment: {
      type: 'string',
      description: 'the comment of the reporter',
      examples: ['The file setup.exe is a virus.'],
    },
    createdAt: timestamp('when the room was reported'),
    clientHash: {
      type: 'string',
      description: 'the hash of the client that sent the report, as in the log',
      examples: ['3f9c0a51be77'],
    },
  },
} as const;

export const adminReportList = {
  type: 'object',
  additionalProperties: false,
  required: ['total', 'reports'],
  properties: {
    total: count('the number of all open reports', 1),
    reports: { type: 'array', items: adminReport, description: 'newest first' },
  },
} as const;

export const adminClient = {
  type: 'object',
  additionalProperties: false,
  required: ['client', 'clientHash', ...trafficNames],
  properties: {
    client: {
      type: 'string',
      description: 'an IPv4 address, an IPv6 /64, or `key:` and the id of an API key',
      examples: ['203.0.113.7'],
    },
    clientHash: { type: 'string', description: 'the hash of the client, as in the log', examples: ['3f9c0a51be77'] },
    ...traffic,
  },
} as const;

export const adminClientList = {
  type: 'object',
  additionalProperties: false,
  required: ['total', 'clients'],
  properties: {
    total: count('the number of known clients', 42),
    clients: { type: 'array', items: adminClient },
  },
} as const;

export const adminBlock = {
  type: 'object',
  additionalProperties: false,
  required: ['id', 'range', 'reason', 'createdAt'],
  properties: {
    id: { type: 'string', pattern: '^[0-9a-f]{10}$', description: 'the id of the block', examples: ['5e0c9ab412'] },
    range: { type: 'string', description: 'the blocked addresses, as a CIDR range', examples: ['198.51.100.0/24'] },
    reason: { type: 'string', description: 'a note for operators', examples: ['automated sign-ups'] },
    createdAt: timestamp('when the block was made'),
    endsAt: timestamp('when the block ends; missing if it has no end', '2026-11-16T09:30:00.000Z'),
  },
} as const;

export const adminBlockList = {
  type: 'object',
  additionalProperties: false,
  required: ['maximum', 'blocks'],
  properties: {
    maximum: count('the maximum number of blocks', 500),
    blocks: { type: 'array', items: adminBlock, description: 'the blocks in force, newest first' },
  },
} as const;

export const createBlockRequest = {
  type: 'object',
  additionalProperties: false,
  required: ['range', 'reason'],
  properties: {
    range: {
      type: 'string',
      maxLength: 60,
      description: 'an IPv4 or IPv6 address, or a CIDR range',
      examples: ['198.51.100.0/24'],
    },
    reason: {
      type: 'string',
      minLength: 1,
      maxLength: 200,
      description: 'a note for operators; clients do not see it',
      examples: ['automated sign-ups'],
    },
    expiresIn: {
      type: 'integer',
      minimum: 60,
      maximum: 315_360_000,
      description: 'seconds until the block ends; without it, the block stays until it is removed',
      examples: [86_400],
    },
    force: {
      type: 'boolean',
      description: 'block the range although it contains your own address or this machine',
      examples: [false],
    },
  },
} as const;

export const adminKey = {
  type: 'object',
  additionalProperties: false,
  required: ['id', 'name', 'tier', 'createdAt', ...trafficNames],
  properties: {
    id: { type: 'string', description: 'the id of the key', examples: ['0a1b2c3d4e'] },
    name: { type: 'string', description: 'the name that the operator gave it', examples: ['build-server'] },
    tier: { type: 'string', enum: ['free', 'pro'], description: 'the tier of its rate limit', examples: ['pro'] },
    createdAt: timestamp('when the key was created'),
    revokedAt: timestamp('when the key was revoked; missing if it is active'),
    lastUsedAt: timestamp('when the key was last used; missing if it has not been used'),
    ...traffic,
  },
} as const;

export const adminKeyList = {
  type: 'object',
  additionalProperties: false,
  required: ['total', 'keys'],
  properties: {
    total: count('the number of all keys', 3),
    keys: { type: 'array', items: adminKey, description: 'newest first' },
  },
} as const;
