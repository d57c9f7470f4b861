/** The messages of the live channel: the source of validation, types and the AsyncAPI document. */
import {
  auth,
  compact,
  content,
  contentVersion,
  deviceId,
  edits,
  encrypted,
  expiresAt,
  extend,
  hasPin,
  linkRole,
  pin,
  resumeToken,
  roomId,
  roomName,
  sealed,
  sealedEdit,
  sealedEdits,
  timestamp,
  version,
} from './fields.ts';
import { deviceColors, maxNameLength } from './limits.ts';
import { fileEntry, roomCreated, roomLimits } from './schemas.ts';
import { envelopeSize, maxPayloadBytes } from './sealed.ts';

const seq = {
  type: 'integer',
  minimum: 0,
  description: 'a whole number that increases with every change of the room',
  examples: [12],
} as const;

const deviceName = {
  type: 'string',
  minLength: 1,
  // The server checks the length of a name that is not sealed.
  maxLength: envelopeSize('device', maxPayloadBytes.device),
  description: `a display name of at most ${maxNameLength.device} characters, sealed in an encrypted room`,
  examples: ['Chrome on Android'],
} as const;

const deviceColor = {
  type: 'integer',
  minimum: 0,
  maximum: deviceColors - 1,
  description: `a number from 0 to ${deviceColors - 1}: the colour of the device in this room`,
  examples: [3],
} as const;

const ref = {
  type: 'string',
  maxLength: 64,
  description: 'any string of at most 64 characters; the response contains it',
  examples: ['a1'],
} as const;

export const device = {
  type: 'object',
  additionalProperties: false,
  required: ['deviceId'],
  properties: {
    deviceId,
    deviceName,
    deviceColor,
    role: { ...linkRole, description: 'the role of the link by which it has access; missing for members' },
  },
  examples: [{ deviceId: deviceId.examples[0], deviceName: deviceName.examples[0], deviceColor: 3 }],
} as const;

const devices = { type: 'array', description: 'the devices in the room', items: device } as const;

export const text = {
  type: 'object',
  additionalProperties: false,
  required: ['content', 'version', 'timestamp'],
  description: 'the text with its version and timestamp',
  properties: {
    content,
    version,
    timestamp: timestamp('when this text was written'),
    contentVersion,
    sealedEdits,
    lastRefs: {
      type: 'array',
      maxItems: 100,
      description:
        'for clients that receive edits: the last stored edit of each writer. If your unconfirmed edit is not among ' +
        'them, this text does not contain it. A writer is a device, or one of several on it whose refs differ before ' +
        'the last hyphen',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['deviceId', 'ref'],
        properties: { deviceId, ref },
      },
    },
  },
  // Of a room that is not encrypted, for a client without edits.
  examples: [{ content: content.examples[0], version: 7, timestamp: '2026-11-15T09:30:00.000Z' }],
} as const;

/** For clients to check their copy of a text. */
const check = {
  length: {
    type: 'integer',
    minimum: 0,
    description: 'the length of the text after this version, in UTF-16 code units; missing in some messages',
    examples: [14],
  },
  checksum: {
    type: 'integer',
    minimum: 0,
    maximum: 0xffffffff,
    description: 'every few versions: the 32-bit FNV-1a hash of the UTF-16 code units of the text after this version',
    examples: [3826002220],
  },
} as const;

const is = <const T extends string>(type: T) => ({ type: 'string', const: type }) as const;

/** The first message on a WebSocket. */
export const join = {
  type: 'object',
  additionalProperties: false,
  required: ['type'],
  description: 'Joins the room. Must be the first message, within 5 seconds.',
  properties: {
    type: is('join'),
    pin,
    auth,
    deviceId,
    deviceName,
    deviceColor: {
      ...deviceColor,
      description:
        `a number from 0 to ${deviceColors - 1}: the colour that you prefer. You get another one if another device ` +
        'has it. Send the one that you had when you reconnect',
    },
    seq: {
      ...seq,
      description: 'the last seq that you received; the server sends a snapshot only if you missed something',
    },
    edits: {
      type: 'boolean',
      description:
        'true to receive text changes as `edit` messages instead of the whole text; an encrypted room always sends `sealed-edit`',
      examples: [true],
    },
    version: { ...version, description: 'with `edits`: the version of your text' },
    timestamp: timestamp('with `version`: when that version was written; if it differs, the server sends a snapshot'),
    diverged: {
      type: 'boolean',
      description:
        'true if your text did not match a `length` or `checksum` of the server, which counts it in a metric',
      examples: [false],
    },
    deviceChanges: {
      type: 'boolean',
      description:
        'true to receive the devices that joined and left as `devices-changed` messages, instead of the list of all devices',
      examples: [true],
    },
    carets: {
      type: 'boolean',
      description:
        'true to receive the carets of other devices as `caret` messages, in an encrypted room `sealed-caret`',
      examples: [true],
    },
  },
  examples: [
    {
      type: 'join',
      pin: pin.examples[0],
      deviceId: deviceId.examples[0],
      deviceName: deviceName.examples[0],
      edits: true,
      deviceChanges: true,
      carets: true,
    },
  ],
} as const;

export const writeText = {
  type: 'object',
  additionalProperties: false,
  required: ['type', 'content', 'baseVersion'],
  description: 'Replaces the text if `baseVersion` is still current. The response is `written` or `conflict`.',
  properties: { type: is('content'), content, baseVersion: version, ref },
} as const;

export const editText = {
  type: 'object',
  additionalProperties: false,
  required: ['type', 'edits', 'baseVersion'],
  description:
    'Edits the text. The server rebases edits of an older version over the newer ones. The response is `written`. ' +
    'Insertions at the same position are ordered by device id. A repeated message with the same `ref` is stored once.',
  properties: { type: is('edit'), edits, baseVersion: version, ref },
} as const;

export const editSealed = {
  type: 'object',
  additionalProperties: false,
  required: ['type', 'sealed', 'baseVersion'],
  description:
    'Edits the text of an encrypted room if `baseVersion` is still current. The response is `written` or `conflict`. A ' +
    'repeated message with the same `ref` is stored once.',
  properties: { type: is('sealed-edit'), sealed, baseVersion: version, ref },
} as const;

export const compactText = {
  type: 'object',
  additionalProperties: false,
  required: ['type', 'content', 'version'],
  description:
    'Replaces the log of an encrypted room up to a version by a sealed snapshot of that version. The response is `written`.',
  properties: {
    type: is('compact'),
    content: { ...content, description: 'a string, the sealed snapshot', examples: sealed.examples },
    version: { ...version, description: 'a whole number, the version that the snapshot contains' },
    ref,
  },
} as const;

const caretPosition = {
  ...version,
  description: 'the position in the text of `version`, in UTF-16 code units',
  examples: [5],
} as const;

/** Where a device has its caret. */
const caret = {
  version: { ...version, description: 'the version of the text that the position refers to' },
  position: caretPosition,
  selectionEnd: {
    ...caretPosition,
    description: 'the other end of the selection, before or after `position`; missing if nothing is selected',
    examples: [9],
  },
} as const;

const sealedCaret = {
  ...sealed,
  description: 'a string, the sealed position and selection: `pop1.` and base64url, always of the same length',
} as const;

export const moveCaret = {
  type: 'object',
  additionalProperties: false,
  required: ['type', 'version', 'position'],
  description:
    'Shows others where your caret is. Nothing is stored, and there is no response. The server forwards at most five per ' +
    'second, and always the last one. An edit shows your caret too.',
  properties: { type: is('caret'), ...caret },
} as const;

export const moveSealedCaret = {
  type: 'object',
  additionalProperties: false,
  required: ['type', 'version', 'sealed'],
  description: 'Like `caret`, in an encrypted room.',
  properties: { type: is('sealed-caret'), version: caret.version, sealed: sealedCaret },
} as const;

export const clientHeartbeat = {
  type: 'object',
  additionalProperties: false,
  required: ['type'],
  description: 'Keeps the connection alive. A WebSocket pong does the same.',
  properties: { type: is('heartbeat') },
} as const;

const { link: _, ...exampleRoom } = roomCreated.examples[0];

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
      required: ['roomId', 'expiresAt', 'hasPin', 'limits'],
      description: 'the room, as in the response to its GET request',
      properties: { roomId, role: linkRole, expiresAt, extend, hasPin, encrypted, name: roomName, limits: roomLimits },
      examples: [exampleRoom],
    },
    content: text,
    files: { type: 'array', description: 'the files, oldest first', items: fileEntry },
    devices,
    pinAttempts: { type: 'integer', minimum: 0, description: 'the number of wrong PINs or room keys', examples: [0] },
    resumeToken,
  },
} as const;

export const textChanged = {
  type: 'object',
  additionalProperties: false,
  required: ['type', 'seq', 'content', 'version', 'timestamp'],
  description: 'The text has changed. Contains the current text.',
  properties: { type: is('content'), seq, ...text.properties },
  examples: [{ type: 'content', seq: 12, ...text.examples[0] }],
} as const;

export const textEdited = {
  type: 'object',
  additionalProperties: false,
  required: ['type', 'seq', 'version', 'edits', 'timestamp'],
  description: 'The text was edited. These edits lead from the previous version to this one.',
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
    deviceId: { ...deviceId, description: 'the device that wrote it; missing if the request had no device id' },
    ref: {
      ...ref,
      description: 'the ref that the device sent, by which it identifies its own edit after reconnecting',
    },
    ...check,
  },
} as const;

export const sealedEdited = {
  type: 'object',
  additionalProperties: false,
  required: ['type', 'seq', 'version', 'sealed', 'timestamp'],
  description: 'The text of an encrypted room was edited. The sealed edits lead from the previous version to this one.',
  properties: { type: is('sealed-edit'), seq, ...sealedEdit.properties },
} as const;

const caretDevice = { ...deviceId, description: 'the device whose caret it is' } as const;

export const caretMoved = {
  type: 'object',
  additionalProperties: false,
  required: ['type', 'deviceId', 'version', 'position'],
  description: 'The caret of another device has moved. Sent to clients that joined with `carets`.',
  properties: { type: is('caret'), deviceId: caretDevice, ...caret },
} as const;

export const sealedCaretMoved = {
  type: 'object',
  additionalProperties: false,
  required: ['type', 'deviceId', 'version', 'sealed'],
  description: 'Like `caret`, in an encrypted room.',
  properties: { type: is('sealed-caret'), deviceId: caretDevice, version: caret.version, sealed: sealedCaret },
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
  properties: {
    type: is('file-removed'),
    seq,
    fileId: { ...fileEntry.properties.fileId, description: 'the id of the removed file' },
    received: {
      type: 'boolean',
      const: true,
      description: 'true if someone has received a one-time file; missing otherwise',
    },
  },
} as const;

export const devicesChanged = {
  type: 'object',
  additionalProperties: false,
  required: ['type', 'seq', 'devices'],
  description: 'The list of devices has changed. Contains all devices in the room.',
  properties: { type: is('devices'), seq, devices },
} as const;

export const deviceChanges = {
  type: 'object',
  additionalProperties: false,
  required: ['type', 'seq', 'joined', 'left'],
  description: 'Devices have joined or left. Sent instead of `devices` to clients that joined with `deviceChanges`.',
  properties: {
    type: is('devices-changed'),
    seq,
    joined: {
      ...devices,
      description: 'the devices that joined or changed their name; replace a device that has the same id',
    },
    left: {
      type: 'array',
      items: { ...deviceId, description: 'the id of a device that left' },
      description: 'the ids of the devices that left',
      examples: [['my-phone']],
    },
  },
} as const;

export const pinAttempts = {
  type: 'object',
  additionalProperties: false,
  required: ['type', 'seq', 'pinAttempts'],
  description: 'Someone sent a wrong PIN or room key.',
  properties: { type: is('pin-attempts'), seq, pinAttempts: snapshot.properties.pinAttempts },
} as const;

export const roomChanged = {
  type: 'object',
  additionalProperties: false,
  required: ['type', 'seq', 'expiresAt', 'hasPin', 'pinAttempts'],
  description:
    'The expiry time, the PIN or the name of the room has changed. Contains the current values, but never the PIN.',
  properties: {
    type: is('room'),
    seq,
    expiresAt,
    extend,
    hasPin,
    name: roomName,
    pinChanged: {
      type: 'boolean',
      const: true,
      description: 'true if the PIN has changed: new requests and channels need the new one; missing otherwise',
    },
    pinAttempts: { ...snapshot.properties.pinAttempts, description: 'the number of wrong PINs; 0 after a PIN change' },
  },
} as const;

export const written = {
  type: 'object',
  additionalProperties: false,
  required: ['type', 'seq', 'version', 'timestamp'],
  description: 'Your text or edit is stored on disk. You have received everything before it.',
  properties: {
    type: is('written'),
    seq,
    version,
    timestamp: timestamp('when it was written'),
    ref,
    ...check,
    compact,
  },
  examples: [{ type: 'written', seq: 12, version: 7, timestamp: '2026-11-15T09:30:00.000Z', ref: 'a1', length: 14 }],
} as const;

export const conflict = {
  type: 'object',
  additionalProperties: false,
  required: ['type', 'version', 'timestamp'],
  description:
    'Your text was not stored, because the text had changed. Contains the current text. A text of more than 4,096 UTF-16 code units is omitted if another message contains it. In an encrypted room, the text is always omitted, and other messages contain everything up to `version`.',
  properties: { type: is('conflict'), content, version, timestamp: text.properties.timestamp, ref },
} as const;

export const problem = {
  type: 'object',
  additionalProperties: false,
  required: ['type', 'error'],
  description: 'The server rejected a message or the join.',
  properties: {
    type: is('error'),
    error: {
      type: 'object',
      additionalProperties: false,
      required: ['code', 'message'],
      description: 'the error, with the same fields as an error of the REST API',
      properties: {
        code: { type: 'string', examples: ['VALIDATION_FAILED'] },
        message: { type: 'string', examples: ['"content" is required.'] },
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
  description: 'Sent every 25 seconds. Contains the current seq.',
  properties: {
    type: is('heartbeat'),
    seq,
    resumeToken,
    reconnectWithin: {
      type: 'integer',
      minimum: 0,
      description:
        'milliseconds; if the connection is lost, wait for a random part of this time before you reconnect; missing if ' +
        'few clients are connected to the server',
      examples: [10_000],
    },
  },
} as const;

export const closed = {
  type: 'object',
  additionalProperties: false,
  required: ['type', 'reason'],
  description: 'The last message: the room or the link has ended, or the server is restarting.',
  properties: {
    type: is('closed'),
    reason: {
      type: 'string',
      enum: ['deleted', 'expired', 'revoked', 'shutdown'],
      description:
        '`deleted` or `expired` for the room, `expired` or `revoked` for the link, `shutdown` for the server',
    },
    reconnectAfter: {
      type: 'integer',
      minimum: 0,
      description: 'milliseconds to wait before reconnecting after a shutdown; different for each client',
      examples: [1200],
    },
  },
} as const;

export const clientMessages = {
  join,
  content: writeText,
  edit: editText,
  'sealed-edit': editSealed,
  compact: compactText,
  caret: moveCaret,
  'sealed-caret': moveSealedCaret,
  heartbeat: clientHeartbeat,
} as const;
export const serverMessages = {
  snapshot,
  content: textChanged,
  edit: textEdited,
  'sealed-edit': sealedEdited,
  caret: caretMoved,
  'sealed-caret': sealedCaretMoved,
  'file-added': fileAdded,
  'file-removed': fileRemoved,
  devices: devicesChanged,
  'devices-changed': deviceChanges,
  'pin-attempts': pinAttempts,
  room: roomChanged,
  written,
  conflict,
  error: problem,
  heartbeat,
  closed,
} as const;
