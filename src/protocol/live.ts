/** The messages of the live channel, both ways: the one source of validation, of types and of the AsyncAPI document. */
import { content, deviceId, edits, expiresAt, hasPin, pin, resumeToken, roomId, timestamp, version } from './fields.ts';
import { fileEntry } from './schemas.ts';

const seq = {
  type: 'integer',
  minimum: 0,
  description: 'a whole number: every change of a room has the next one',
  examples: [12],
} as const;

const deviceName = {
  type: 'string',
  minLength: 1,
  maxLength: 64,
  description: 'a name for people, of at most 64 characters',
  examples: ['Chrome on Android'],
} as const;

const ref = {
  type: 'string',
  maxLength: 64,
  description: 'any string of at most 64 characters; the answer carries it',
  examples: ['a1'],
} as const;

export const device = {
  type: 'object',
  additionalProperties: false,
  required: ['deviceId'],
  properties: { deviceId, deviceName },
} as const;

const devices = { type: 'array', description: 'the devices now attached', items: device } as const;

export const text = {
  type: 'object',
  additionalProperties: false,
  required: ['content', 'version', 'timestamp'],
  properties: { content, version, timestamp: timestamp('when this text was written') },
} as const;

const is = <const T extends string>(type: T) => ({ type: 'string', const: type }) as const;

/** The first message on a WebSocket. */
export const join = {
  type: 'object',
  additionalProperties: false,
  required: ['type'],
  description: 'Enters the room. Must be the first message, within 5 seconds.',
  properties: {
    type: is('join'),
    pin,
    deviceId,
    deviceName,
    seq: { ...seq, description: 'the seq that you have; you get a snapshot only if you missed something' },
    edits: {
      type: 'boolean',
      description: 'true to receive changes of the text as `edit` messages instead of the whole text',
      examples: [true],
    },
    version: { ...version, description: 'with `edits`: the version of the text that you have' },
    timestamp: timestamp('with `version`: when that version was written; another one in its place gets a snapshot'),
  },
} as const;

export const writeText = {
  type: 'object',
  additionalProperties: false,
  required: ['type', 'content', 'baseVersion'],
  description:
    'Replaces the text, if it still has the version that yours is based on. Answered by written or conflict.',
  properties: { type: is('content'), content, baseVersion: version, ref },
} as const;

export const editText = {
  type: 'object',
  additionalProperties: false,
  required: ['type', 'edits', 'baseVersion'],
  description:
    'Edits the text. Edits of an older version are rebased over the newer ones, and answered by `written`. Insertions ' +
    'at the same position are ordered by device id. A repeated message with the same `ref` is stored once.',
  properties: { type: is('edit'), edits, baseVersion: version, ref },
} as const;

export const clientHeartbeat = {
  type: 'object',
  additionalProperties: false,
  required: ['type'],
  description: 'Says that you are there; a WebSocket pong does as well.',
  properties: { type: is('heartbeat') },
} as const;

export const snapshot = {
  type: 'object',
  additionalProperties: false,
  required: ['type', 'seq', 'room', 'content', 'files', 'devices', 'pinAttempts'],
  description: 'The whole room.',
  properties: {
    type: is('snapshot'),
    seq,
    room: {
      type: 'object',
      additionalProperties: false,
      required: ['roomId', 'expiresAt', 'hasPin'],
      properties: { roomId, expiresAt, hasPin },
    },
    content: text,
    files: { type: 'array', items: fileEntry },
    devices,
    pinAttempts: { type: 'integer', minimum: 0, description: 'wrong PINs tried on this room so far', examples: [0] },
    resumeToken,
  },
} as const;

export const textChanged = {
  type: 'object',
  additionalProperties: false,
  required: ['type', 'seq', 'content', 'version', 'timestamp'],
  description: 'The text changed; this is the newest.',
  properties: { type: is('content'), seq, ...text.properties },
} as const;

export const textEdited = {
  type: 'object',
  additionalProperties: false,
  required: ['type', 'seq', 'version', 'edits', 'timestamp'],
  description: 'The text was edited: these edits, applied to the version before, make this version.',
  properties: {
    type: is('edit'),
    seq,
    version,
    edits: {
      type: 'array',
      items: edits.items,
      description: 'the edits, in ascending order',
      examples: edits.examples,
    },
    timestamp: timestamp('when it was written'),
    deviceId: { ...deviceId, description: 'the device that wrote it; missing for a request that named none' },
    ref: { ...ref, description: 'as the device sent it: how it recognises its own edit after reconnecting' },
  },
} as const;

export const fileAdded = {
  type: 'object',
  additionalProperties: false,
  required: ['type', 'seq', 'file'],
  description: 'A file was added.',
  properties: { type: is('file-added'), seq, file: fileEntry },
} as const;

export const fileRemoved = {
  type: 'object',
  additionalProperties: false,
  required: ['type', 'seq', 'fileId'],
  description: 'A file was removed.',
  properties: { type: is('file-removed'), seq, fileId: fileEntry.properties.fileId },
} as const;

export const devicesChanged = {
  type: 'object',
  additionalProperties: false,
  required: ['type', 'seq', 'devices'],
  description: 'Devices came or went; these are all that are there.',
  properties: { type: is('devices'), seq, devices },
} as const;

export const pinAttempts = {
  type: 'object',
  additionalProperties: false,
  required: ['type', 'seq', 'pinAttempts'],
  description: 'Someone tried a wrong PIN.',
  properties: { type: is('pin-attempts'), seq, pinAttempts: snapshot.properties.pinAttempts },
} as const;

export const written = {
  type: 'object',
  additionalProperties: false,
  required: ['type', 'seq', 'version', 'timestamp'],
  description: 'Your text or your edit is stored, on the disk. You have received everything before it.',
  properties: { type: is('written'), seq, version, timestamp: timestamp('when it was written'), ref },
} as const;

export const conflict = {
  type: 'object',
  additionalProperties: false,
  required: ['type', 'version', 'timestamp'],
  description:
    'The text had changed, and yours was not stored; this is the current one. A text of over 4,096 UTF-16 code units is left out if you have received it already, or will receive it later because you cannot take it yet.',
  properties: { type: is('conflict'), ...text.properties, ref },
} as const;

export const problem = {
  type: 'object',
  additionalProperties: false,
  required: ['type', 'error'],
  description: 'A message was refused, or the room was; in the shape of an error of the REST API.',
  properties: {
    type: is('error'),
    error: {
      type: 'object',
      additionalProperties: false,
      required: ['code', 'message'],
      properties: {
        code: { type: 'string', examples: ['VALIDATION_FAILED'] },
        message: { type: 'string', examples: ['"content" is missing.'] },
        details: { type: 'object' },
      },
    },
    ref,
  },
} as const;

export const heartbeat = {
  type: 'object',
  additionalProperties: false,
  required: ['type', 'seq'],
  description: 'Every 25 seconds: the channel lives, and this is the seq that you should have.',
  properties: { type: is('heartbeat'), seq, resumeToken },
} as const;

export const closed = {
  type: 'object',
  additionalProperties: false,
  required: ['type', 'reason'],
  description: 'The last message: the room is gone, or the server restarts.',
  properties: {
    type: is('closed'),
    reason: { type: 'string', enum: ['deleted', 'expired', 'shutdown'] },
    reconnectAfter: {
      type: 'integer',
      minimum: 0,
      description: 'milliseconds to wait before coming back after a shutdown; different for each client',
      examples: [1200],
    },
  },
} as const;

export const clientMessages = { join, content: writeText, edit: editText, heartbeat: clientHeartbeat } as const;
export const serverMessages = {
  snapshot,
  content: textChanged,
  edit: textEdited,
  'file-added': fileAdded,
  'file-removed': fileRemoved,
  devices: devicesChanged,
  'pin-attempts': pinAttempts,
  written,
  conflict,
  error: problem,
  heartbeat,
  closed,
} as const;
