/** The forms of schemas, and the fields that bodies and live messages share. */
import { reportReasons } from './limits.ts';
import { linkRoles } from './link-rights.ts';
import { envelopeSize, maxPayloadBytes } from './sealed.ts';

/** The schemas of fields. The name of a field that may be missing ends with a question mark. */
export type Fields = Readonly<Record<string, object>>;
type Properties<F> = { readonly [Name in keyof F as Name extends `${infer N}?` ? N : Name]: F[Name] };

/** An object without other fields. */
export const object = <const F extends Fields>(properties: F) => objectWith({ properties });

/** The same with a description or an example of its own. */
export function objectWith<const F extends Fields, const T extends object>(schema: T & { properties: F }) {
  const required = Object.keys(schema.properties).filter((name) => !name.endsWith('?'));
  const properties = Object.entries(schema.properties).map(([name, field]) => [name.replace('?', ''), field]);
  return {
    ...({ type: 'object', additionalProperties: false } as const),
    ...(required.length > 0 && { required }),
    ...(schema as Omit<T, 'properties'>),
    properties: Object.fromEntries(properties) as Properties<F>,
  };
}

/** With an example of all fields but those that may be missing. */
export function objectWithExample<const F extends Fields, const T extends object>(schema: T & { properties: F }) {
  const always = Object.entries<{ const?: unknown; examples?: readonly unknown[] }>(schema.properties)
    .filter(([name]) => !name.endsWith('?'))
    .map(([name, field]) => [name, field.examples ? field.examples[0] : field.const]);
  return objectWith({ examples: [Object.fromEntries(always)], ...schema });
}

/** The same schema of another field. */
export const described = <const S extends object>(schema: S, description: string) => ({ ...schema, description });

export const string = (description: string, example: string) =>
  ({ type: 'string', description, examples: [example] }) as const;

export const matching = (pattern: string, description: string, example: string) =>
  ({ type: 'string', pattern, description, examples: [example] }) as const;

export const uri = (description: string, example: string) =>
  ({ type: 'string', format: 'uri', description, examples: [example] }) as const;

export const natural = (description: string, example: number) =>
  ({ type: 'integer', minimum: 0, description, examples: [example] }) as const;

/** One of several values. */
export const oneOf = <const V extends readonly string[]>(values: V, description: string, example: V[number]) =>
  ({ type: 'string', enum: values, description, examples: [example] }) as const;

/** A text or a number within bounds. */
export const bounded = <const T extends 'string' | 'integer', const B extends object>(
  type: T,
  bounds: B,
  description: string,
  example: T extends 'string' ? string : number,
) => ({ type, ...bounds, description, examples: [example] }) as const;

/** A number that clients send, which JSON and programs must represent exactly. */
export const wholeNumber = (description: string, example: number) =>
  bounded('integer', { minimum: 0, maximum: Number.MAX_SAFE_INTEGER }, description, example);

export const flag = (description: string, example: boolean) =>
  ({ type: 'boolean', description, examples: [example] }) as const;

/** A field that is missing instead of false. */
export const onlyTrue = (description: string) => ({ type: 'boolean', const: true, description }) as const;

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

export const linkRole = oneOf(linkRoles, 'the role of the link, `read` or `drop`; missing for members', 'read');

export const pin = matching('^[0-9]{4}$', 'a string of exactly four digits, for example "0427"', '0427');

export const resumeToken = bounded(
  'string',
  { maxLength: 100 },
  'a secret that opens a channel to this room until 10 minutes after the end of this one, regardless of limits; keep ' +
    'the latest one',
  'hw3k2.Zm9vYmFyYmF6cXV4.c29tZSBieXRlcyBvZiBhIHNlYWwhISEh',
);

export const expiresAt = timestamp('when the room expires', '2026-11-15T10:30:00.000Z');
export const extend = onlyTrue('true if each write moves `expiresAt`; missing otherwise');
export const hasPin = flag('whether the room requires a PIN', true);
export const encrypted = onlyTrue('for an encrypted room, whose data is sealed; missing for other rooms');

/** 32 bytes in base64url. */
export const auth = matching(
  '^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$',
  'the key `auth` of an encrypted room: 32 bytes in base64url; never in a URL',
  '_EEnMqxlAsF6p4hQ0VCF3D1KOhBoK8ZqFYOqBwas11E',
);

/** 16 bytes in base64url. */
export const salt = matching(
  '^[A-Za-z0-9_-]{21}[AQgw]$',
  'the salt of the room key: 16 random bytes in base64url',
  'AAECAwQFBgcICQoLDA0ODw',
);

export const roomName = bounded(
  'string',
  { minLength: 1, maxLength: envelopeSize('room', maxPayloadBytes.room) },
  'the name of the room, sealed in an encrypted room; missing if it has none',
  'Kitchen table',
);

/** The state of a room that every device in it receives. */
export const roomState = {
  expiresAt,
  'extend?': extend,
  hasPin,
  'encrypted?': encrypted,
  'name?': roomName,
} as const;

export const reportReason = oneOf(reportReasons, `one of ${reportReasons.join(', ')}`, 'malware');

export const content = string('a string, the shared text', 'Hello');

export const version = wholeNumber('a whole number, the version of the text', 7);

export const deviceId = matching(
  '^[A-Za-z0-9_-]{1,64}$',
  '1 to 64 letters, digits, dashes or underscores; channels with the same id are one device',
  'my-phone',
);

const position = wholeNumber('a whole number, a position in UTF-16 code units', 5);

/** A replaced range. */
export const textEdit = objectWith({
  description: 'an object with "from", "to" and "insert"',
  properties: {
    from: position,
    to: described(position, 'a whole number, the end of the replaced range; the same as "from" for an insertion'),
    insert: string('a string, the text to insert', ', world'),
  },
});

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
export const sealed = string(
  'a string, the sealed edits: `pop1.` and base64url',
  'pop1.QEFCQ0RFRkdISUpLTE1OT1BRUlNUVVZX…',
);

export const sealedEditFields = {
  version: described(version, 'the version that it created'),
  sealed,
  timestamp: timestamp('when it was written'),
  'deviceId?': described(deviceId, 'the device that wrote it; missing if the request had no device id'),
  'ref?': bounded('string', { maxLength: 64 }, 'the ref that the device sent', 'a1'),
} as const;

export const sealedEdit = objectWith({ description: 'a sealed edit', properties: sealedEditFields });

/** A text. In an encrypted room, it is the last full text, and the sealed edits since. */
export const textWith = (timestampDescription: string) =>
  ({
    content,
    version,
    timestamp: timestamp(timestampDescription),
    'contentVersion?': described(
      version,
      'in an encrypted room: the version of `content`; `sealedEdits` lead from it to `version`',
    ),
    'sealedEdits?': {
      type: 'array',
      items: sealedEdit,
      description: 'in an encrypted room: the sealed edits after `contentVersion`, oldest first',
    },
  }) as const;

export const compact = onlyTrue(
  'in an encrypted room: true if the log is long; store a snapshot of this or a later version',
);
