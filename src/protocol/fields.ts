/** Fields that bodies and live messages share. */
import { reportReasons } from './limits.ts';
import { linkRoles } from './link-rights.ts';
import { envelopeSize, maxPayloadBytes } from './sealed.ts';

export const timestamp = (description: string, example = '2026-11-15T09:30:00.000Z') =>
  ({
    type: 'string',
    format: 'date-time',
    pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$',
    description,
    examples: [example],
  }) as const;

export const roomId = {
  type: 'string',
  pattern: '^([0-9A-HJKMNP-TV-Z]{6,12}|[0-9A-HJKMNP-TV-Z]{24})$',
  description:
    'the room code in canonical form; only that of an encrypted room starts with E; for the holder of a link, its id',
  examples: ['7KQ2MX', 'E7KQ2MX'],
} as const;

export const linkRole = {
  type: 'string',
  enum: linkRoles,
  description: 'the role of the link, `read` or `drop`; missing for members',
  examples: ['read'],
} as const;

export const pin = {
  type: 'string',
  pattern: '^[0-9]{4}$',
  description: 'a string of exactly four digits, for example "0427"',
  examples: ['0427'],
} as const;

export const resumeToken = {
  type: 'string',
  maxLength: 100,
  description:
    'a secret that opens a channel to this room until 10 minutes after the end of this one, regardless of limits; keep ' +
    'the latest one',
  examples: ['hw3k2.Zm9vYmFyYmF6cXV4.c29tZSBieXRlcyBvZiBhIHNlYWwhISEh'],
} as const;

export const expiresAt = timestamp('when the room expires', '2026-11-15T10:30:00.000Z');
export const extend = {
  type: 'boolean',
  const: true,
  description: 'true if each write moves `expiresAt`; missing otherwise',
} as const;
export const hasPin = {
  type: 'boolean',
  description: 'whether the room requires a PIN',
  examples: [true],
} as const;
export const encrypted = {
  type: 'boolean',
  const: true,
  description: 'for an encrypted room, whose data is sealed; missing for other rooms',
} as const;

/** 32 bytes in base64url. */
export const auth = {
  type: 'string',
  pattern: '^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$',
  description: 'the key `auth` of an encrypted room: 32 bytes in base64url; never in a URL',
  examples: ['_EEnMqxlAsF6p4hQ0VCF3D1KOhBoK8ZqFYOqBwas11E'],
} as const;

/** 16 bytes in base64url. */
export const salt = {
  type: 'string',
  pattern: '^[A-Za-z0-9_-]{21}[AQgw]$',
  description: 'the salt of the room key: 16 random bytes in base64url',
  examples: ['AAECAwQFBgcICQoLDA0ODw'],
} as const;

export const roomName = {
  type: 'string',
  minLength: 1,
  maxLength: envelopeSize('room', maxPayloadBytes.room),
  description: 'the name of the room, sealed in an encrypted room; missing if it has none',
  examples: ['Kitchen table'],
} as const;

export const reportReason = {
  type: 'string',
  enum: reportReasons,
  description: `one of ${reportReasons.join(', ')}`,
  examples: ['malware'],
} as const;

export const content = { type: 'string', description: 'a string, the shared text', examples: ['Hello'] } as const;

export const version = {
  type: 'integer',
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'a whole number, the version of the text',
  examples: [7],
} as const;

export const deviceId = {
  type: 'string',
  pattern: '^[A-Za-z0-9_-]{1,64}$',
  description: '1 to 64 letters, digits, dashes or underscores; channels with the same id are one device',
  examples: ['my-phone'],
} as const;

const position = {
  type: 'integer',
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'a whole number, a position in UTF-16 code units',
  examples: [5],
} as const;

/** A replaced range. */
export const textEdit = {
  type: 'object',
  additionalProperties: false,
  required: ['from', 'to', 'insert'],
  description: 'an object with "from", "to" and "insert"',
  properties: {
    from: position,
    to: {
      ...position,
      description: 'a whole number, the end of the replaced range; the same as "from" for an insertion',
    },
    insert: { type: 'string', description: 'a string, the text to insert', examples: [', world'] },
  },
} as const;

/** The maximum per message. A client with more sends one larger range instead. */
export const maxEdits = 1000;

export const edits = {
  type: 'array',
  minItems: 1,
  maxItems: maxEdits,
  items: textEdit,
  description: `a list of 1 to ${maxEdits} edits of one version, in ascending order and without overlap`,
  examples: [[{ from: 5, to: 5, insert: ', world' }]],
} as const;

/** Sealed strings are checked outside the schema, because their maximum depends on the settings. */
export const sealed = {
  type: 'string',
  description: 'a string, the sealed edits: `pop1.` and base64url',
  examples: ['pop1.QEFCQ0RFRkdISUpLTE1OT1BRUlNUVVZX…'],
} as const;

/** The text of an encrypted room: the last full text, and the sealed edits since. */
export const contentVersion = {
  ...version,
  description: 'in an encrypted room: the version of `content`; `sealedEdits` lead from it to `version`',
} as const;

export const sealedEdit = {
  type: 'object',
  additionalProperties: false,
  required: ['version', 'sealed', 'timestamp'],
  description: 'a sealed edit',
  properties: {
    version: { ...version, description: 'the version that it created' },
    sealed,
    timestamp: timestamp('when it was written'),
    deviceId: { ...deviceId, description: 'the device that wrote it; missing if the request had no device id' },
    ref: { type: 'string', maxLength: 64, description: 'the ref that the device sent', examples: ['a1'] },
  },
} as const;

export const sealedEdits = {
  type: 'array',
  items: sealedEdit,
  description: 'in an encrypted room: the sealed edits after `contentVersion`, oldest first',
} as const;

export const compact = {
  type: 'boolean',
  const: true,
  description: 'in an encrypted room: true if the log is long; store a snapshot of this or a later version',
} as const;
