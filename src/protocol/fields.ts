/** Fields that bodies and live messages share. */

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
  pattern: '^[0-9A-HJKMNP-TV-Z]{6,12}$',
  description: 'the room code in canonical form',
  examples: ['7KQ2MX'],
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
export const hasPin = {
  type: 'boolean',
  description: 'whether the room requires a PIN',
  examples: [true],
} as const;
/** The maximum length of the name of a room, in Unicode characters. */
export const maxRoomNameLength = 80;

export const roomName = {
  type: 'string',
  minLength: 1,
  maxLength: maxRoomNameLength,
  description: 'the name of the room; missing if it has none',
  examples: ['Kitchen table'],
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
