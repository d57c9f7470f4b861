/** The messages of the live channel: the source of validation, types and the AsyncAPI document. */
import {
  auth,
  bounded,
  compact,
  content,
  described,
  deviceId,
  edits,
  type Fields,
  flag,
  linkRole,
  natural,
  object,
  objectWith,
  onlyTrue,
  pin,
  resumeToken,
  roomId,
  roomState,
  sealed,
  sealedEditFields,
  textWith,
  timestamp,
  version,
  wholeNumber,
} from './fields.ts';
import { deviceColors, maxNameLength } from './limits.ts';
import { compactContentRequest, fileEntry, roomCreated, roomLimits } from './schemas.ts';
import { envelopeSize, maxPayloadBytes } from './sealed.ts';

const seq = natural('a whole number that increases with every change of the room', 12);

/** The server checks the length of a name that is not sealed. */
const deviceName = bounded(
  'string',
  { minLength: 1, maxLength: envelopeSize('device', maxPayloadBytes.device) },
  `a display name of at most ${maxNameLength.device} characters, sealed in an encrypted room`,
  'Chrome on Android',
);

const deviceColor = bounded(
  'integer',
  { minimum: 0, maximum: deviceColors - 1 },
  `a number from 0 to ${deviceColors - 1}: the colour of the device in this room`,
  3,
);

const ref = bounded('string', { maxLength: 64 }, 'any string of at most 64 characters; the response contains it', 'a1');

export const device = objectWith({
  properties: {
    deviceId,
    'deviceName?': deviceName,
    'deviceColor?': deviceColor,
    'role?': described(linkRole, 'the role of the link by which it has access; missing for members'),
  },
  examples: [{ deviceId: deviceId.examples[0], deviceName: deviceName.examples[0], deviceColor: 3 }],
});

const devices = { type: 'array', description: 'the devices in the room', items: device } as const;

const textFields = {
  ...textWith('when this text was written'),
  'lastRefs?': {
    type: 'array',
    maxItems: 100,
    description:
      'for clients that receive edits: the last stored edit of each writer. If your unconfirmed edit is not among ' +
      'them, this text does not contain it. A writer is a device, or one of several on it whose refs differ before ' +
      'the last hyphen',
    items: object({ deviceId, ref }),
  },
} as const;

export const text = objectWith({
  description: 'the text with its version and timestamp',
  properties: textFields,
  // Of a room that is not encrypted, for a client without edits.
  examples: [{ content: content.examples[0], version: 7, timestamp: '2026-11-15T09:30:00.000Z' }],
});

/** For clients to check their copy of a text. */
const check = {
  'length?': natural('the length of the text after this version, in UTF-16 code units; missing in some messages', 14),
  'checksum?': bounded(
    'integer',
    { minimum: 0, maximum: 0xffffffff },
    'every few versions: the 32-bit FNV-1a hash of the UTF-16 code units of the text after this version',
    3826002220,
  ),
} as const;

/** Each message has its type first. */
const message = <const T extends string, const F extends Fields>(type: T, description: string, fields: F) =>
  objectWith({ description, properties: { type: { type: 'string', const: type }, ...fields } });

/** The first message on a WebSocket. */
export const join = {
  ...message('join', 'Joins the room. Must be the first message, within 5 seconds.', {
    'pin?': pin,
    'auth?': auth,
    'deviceId?': deviceId,
    'deviceName?': deviceName,
    'deviceColor?': described(
      deviceColor,
      `a number from 0 to ${deviceColors - 1}: the colour that you prefer. You get another one if another device ` +
        'has it. Send the one that you had when you reconnect',
    ),
    'seq?': described(seq, 'the last seq that you received; the server sends a snapshot only if you missed something'),
    'edits?': flag(
      'true to receive text changes as `edit` messages instead of the whole text; an encrypted room always sends `sealed-edit`',
      true,
    ),
    'version?': described(version, 'with `edits`: the version of your text'),
    'timestamp?': timestamp(
      'with `version`: when that version was written; if it differs, the server sends a snapshot',
    ),
    'diverged?': flag(
      'true if your text did not match a `length` or `checksum` of the server, which counts it in a metric',
      false,
    ),
    'deviceChanges?': flag(
      'true to receive the devices that joined and left as `devices-changed` messages, instead of the list of all devices',
      true,
    ),
    'carets?': flag(
      'true to receive the carets of other devices as `caret` messages, in an encrypted room `sealed-caret`',
      true,
    ),
  }),
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

export const writeText = message(
  'content',
  'Replaces the text if `baseVersion` is still current. The response is `written` or `conflict`.',
  { content, baseVersion: version, 'ref?': ref },
);

export const editText = message(
  'edit',
  'Edits the text. The server rebases edits of an older version over the newer ones. The response is `written`. ' +
    'Insertions at the same position are ordered by device id. A repeated message with the same `ref` is stored once.',
  { edits, baseVersion: version, 'ref?': ref },
);

export const editSealed = message(
  'sealed-edit',
  'Edits the text of an encrypted room if `baseVersion` is still current. The response is `written` or `conflict`. A ' +
    'repeated message with the same `ref` is stored once.',
  { sealed, baseVersion: version, 'ref?': ref },
);

export const compactText = message(
  'compact',
  'Replaces the log of an encrypted room up to a version by a sealed snapshot of that version. The response is `written`.',
  { ...compactContentRequest.properties, 'ref?': ref },
);

/** Where a device has its caret. */
const caret = {
  version: described(version, 'the version of the text that the position refers to'),
  position: wholeNumber('the position in the text of `version`, in UTF-16 code units', 5),
  'selectionEnd?': wholeNumber(
    'the other end of the selection, before or after `position`; missing if nothing is selected',
    9,
  ),
} as const;

const sealedCaret = {
  version: caret.version,
  sealed: described(
    sealed,
    'a string, the sealed position and selection: `pop1.` and base64url, always of the same length',
  ),
} as const;

export const moveCaret = message(
  'caret',
  'Shows others where your caret is. Nothing is stored, and there is no response. The server forwards at most five per ' +
    'second, and always the last one. An edit shows your caret too.',
  caret,
);

export const moveSealedCaret = message('sealed-caret', 'Like `caret`, in an encrypted room.', sealedCaret);

export const clientHeartbeat = message('heartbeat', 'Keeps the connection alive. A WebSocket pong does the same.', {});

const { link: _, ...exampleRoom } = roomCreated.examples[0];
const { 'encrypted?': __, ...changingState } = roomState;

export const snapshot = message('snapshot', 'The whole room.', {
  seq,
  room: objectWith({
    description: 'the room, as in the response to its GET request',
    properties: { roomId, 'role?': linkRole, ...roomState, limits: roomLimits },
    examples: [exampleRoom],
  }),
  content: text,
  files: { type: 'array', description: 'the files, oldest first', items: fileEntry },
  devices,
  pinAttempts: natural('the number of wrong PINs or room keys', 0),
  'resumeToken?': resumeToken,
});

export const textChanged = {
  ...message('content', 'The text has changed. Contains the current text.', { seq, ...textFields }),
  examples: [{ type: 'content', seq: 12, ...text.examples[0] }],
} as const;

export const textEdited = message(
  'edit',
  'The text was edited. These edits lead from the previous version to this one.',
  {
    seq,
    version,
    edits: {
      type: 'array',
      items: edits.items,
      description: 'the edits, in ascending order',
      examples: edits.examples,
    },
    timestamp: timestamp('when it was written'),
    'deviceId?': described(deviceId, 'the device that wrote it; missing if the request had no device id'),
    'ref?': described(ref, 'the ref that the device sent, by which it identifies its own edit after reconnecting'),
    ...check,
  },
);

export const sealedEdited = message(
  'sealed-edit',
  'The text of an encrypted room was edited. The sealed edits lead from the previous version to this one.',
  { seq, ...sealedEditFields },
);

const caretDevice = described(deviceId, 'the device whose caret it is');

export const caretMoved = message(
  'caret',
  'The caret of another device has moved. Sent to clients that joined with `carets`.',
  { deviceId: caretDevice, ...caret },
);

export const sealedCaretMoved = message('sealed-caret', 'Like `caret`, in an encrypted room.', {
  deviceId: caretDevice,
  ...sealedCaret,
});

export const fileAdded = message('file-added', 'A file was added.', { seq, file: fileEntry });

export const fileRemoved = message('file-removed', 'A file was removed.', {
  seq,
  fileId: described(fileEntry.properties.fileId, 'the id of the removed file'),
  'received?': onlyTrue('true if someone has received a one-time file; missing otherwise'),
});

export const devicesChanged = message('devices', 'The list of devices has changed. Contains all devices in the room.', {
  seq,
  devices,
});

export const deviceChanges = message(
  'devices-changed',
  'Devices have joined or left. Sent instead of `devices` to clients that joined with `deviceChanges`.',
  {
    seq,
    joined: described(devices, 'the devices that joined or changed their name; replace a device that has the same id'),
    left: {
      type: 'array',
      items: described(deviceId, 'the id of a device that left'),
      description: 'the ids of the devices that left',
      examples: [['my-phone']],
    },
  },
);

export const pinAttempts = message('pin-attempts', 'Someone sent a wrong PIN or room key.', {
  seq,
  pinAttempts: snapshot.properties.pinAttempts,
});

export const roomChanged = message(
  'room',
  'The expiry time, the PIN or the name of the room has changed. Contains the current values, but never the PIN.',
  {
    seq,
    ...changingState,
    'pinChanged?': onlyTrue(
      'true if the PIN has changed: new requests and channels need the new one; missing otherwise',
    ),
    pinAttempts: described(snapshot.properties.pinAttempts, 'the number of wrong PINs; 0 after a PIN change'),
  },
);

export const written = {
  ...message('written', 'Your text or edit is stored on disk. You have received everything before it.', {
    seq,
    version,
    timestamp: timestamp('when it was written'),
    'ref?': ref,
    ...check,
    'compact?': compact,
  }),
  examples: [{ type: 'written', seq: 12, version: 7, timestamp: '2026-11-15T09:30:00.000Z', ref: 'a1', length: 14 }],
} as const;

export const conflict = message(
  'conflict',
  'Your text was not stored, because the text had changed. Contains the current text. A text of more than 4,096 UTF-16 code units is omitted if another message contains it. In an encrypted room, the text is always omitted, and other messages contain everything up to `version`.',
  { 'content?': content, version, timestamp: text.properties.timestamp, 'ref?': ref },
);

export const problem = message('error', 'The server rejected a message or the join.', {
  error: objectWith({
    description: 'the error, with the same fields as an error of the REST API',
    properties: {
      code: { type: 'string', examples: ['VALIDATION_FAILED'] },
      message: { type: 'string', examples: ['"content" is required.'] },
      'details?': { type: 'object' },
    },
  }),
  'ref?': ref,
});

export const heartbeat = message('heartbeat', 'Sent every 25 seconds. Contains the current seq.', {
  seq,
  'resumeToken?': resumeToken,
  'reconnectWithin?': natural(
    'milliseconds; if the connection is lost, wait for a random part of this time before you reconnect; missing if ' +
      'few clients are connected to the server',
    10_000,
  ),
});

export const closed = message(
  'closed',
  'The last message: the room or the link has ended, or the server is restarting.',
  {
    reason: {
      type: 'string',
      enum: ['deleted', 'expired', 'revoked', 'shutdown'],
      description:
        '`deleted` or `expired` for the room, `expired` or `revoked` for the link, `shutdown` for the server',
    },
    'reconnectAfter?': natural(
      'milliseconds to wait before reconnecting after a shutdown; different for each client',
      1200,
    ),
  },
);

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
