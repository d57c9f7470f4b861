/** The schemas of all bodies: the source of validation, types and the OpenAPI document. */
import { type ErrorCode, errorCodes, webhookErrors } from './error-codes.ts';
import {
  auth,
  bounded,
  compact,
  content,
  described,
  deviceId,
  edits,
  expiresAt,
  flag,
  linkRole,
  matching,
  natural,
  object,
  objectWith,
  objectWithExample,
  oneOf,
  onlyTrue,
  pin,
  reportReason,
  roomId,
  roomName,
  roomState,
  salt,
  sealed,
  string,
  textWith,
  timestamp,
  uri,
  version,
} from './fields.ts';
import {
  creationModes,
  defaultRoomLimits,
  type LimitSetting,
  limitTable,
  maxNameLength,
  maxReportComment,
} from './limits.ts';
import { envelopeSize, maxDropEnvelope, maxPayloadBytes } from './sealed.ts';

const success = { type: 'boolean', const: true } as const;
const fileName = string('the file name, without path components and control characters', 'photo.jpg');
const fileSize = natural('the size in bytes', 34_567);
const fileUrl = uri(
  'the URL of the file; anyone who knows it can read the file until its room ends',
  'http://localhost:8080/files/9f86d081884c7d659a2feaa0c55ad015/photo.jpg',
);

const fileId = matching(
  '^[0-9a-f]{32}$',
  'the id of the file, for its URL and for removal',
  '9f86d081884c7d659a2feaa0c55ad015',
);

const once = onlyTrue('for a one-time file, which is erased after one receipt; missing for other files');

const exampleTicket = 'tghq3x.Zm9vYmFyYmF6cXV4.c2lnbmF0dXJlc2lnbmF0dXJlc2lnbmF0';

/** The schemas of limits that settings change, by their names in the API. */
const limitProperties = (isIncluded: (limit: LimitSetting) => boolean) =>
  Object.fromEntries(
    limitTable.filter(([, limit]) => isIncluded(limit)).map(([, limit]) => [limit.name, limitSchema(limit)]),
  );

function limitSchema({ help, description = help, default: value, mayBeOff }: LimitSetting) {
  if (!mayBeOff) return natural(description, value);
  const orNull = ['integer', 'null'] as const;
  return { type: orNull, minimum: 0, description: `${description}; null for no limit`, examples: [value] } as const;
}

export const roomLimits = objectWith({
  description: 'the limits of each room on this server',
  properties: limitProperties(({ isPerRoom }) => isPerRoom === true),
});

/** The maximum lifetime is a setting, so it is checked outside the schema. */
const expiresIn = bounded('integer', { minimum: 60 }, 'a whole number of seconds, 60 or more', 3600);

/** Unlike `extend` in a response, it can be false. */
const newExtend = flag('true or false; with true, each write restarts the lifetime of the room', true);

/** Cleaned before its length is checked, so the schema has no maximum. */
const newName = {
  type: ['string', 'null'],
  description: `a string of at most ${maxNameLength.room} characters, sealed in an encrypted room; null or "" for no name`,
  examples: ['Kitchen table'],
} as const;

/** Only the creator knows the room key. The server stores the salt and the verifier. */
const encryption = objectWith({
  description: 'an object with `scheme`, `salt` and `verifier`, for an encrypted room; not together with a PIN',
  examples: [{ scheme: 'pop1', salt: salt.examples[0], verifier: 'v5aOiKUkrCssGCZSCRV8j1ytgfkj5BeuPCyO76WdPQg' }],
  properties: {
    scheme: { type: 'string', const: 'pop1', description: 'the scheme, "pop1"' },
    salt,
    verifier: {
      ...auth,
      description: 'the SHA-256 of the key `auth`: 32 bytes in base64url',
      examples: ['v5aOiKUkrCssGCZSCRV8j1ytgfkj5BeuPCyO76WdPQg'],
    },
  },
});

export const createRoomRequest = objectWith({
  properties: {
    'pin?': pin,
    'expiresIn?': expiresIn,
    'extend?': newExtend,
    'name?': newName,
    'history?': flag('true or false; with false, the room keeps no earlier texts', false),
    'encryption?': encryption,
  },
  examples: [{ pin: '0427', expiresIn: 3600, name: 'Kitchen table', history: false }],
});

const exampleRoom = { expiresAt: expiresAt.examples[0], hasPin: true, name: roomName.examples[0] };

export const roomCreated = objectWith({
  examples: [
    { roomId: roomId.examples[0], link: 'http://localhost:8080/r/7KQ2MX', ...exampleRoom, limits: defaultRoomLimits },
  ],
  properties: {
    roomId,
    'link?': uri(
      'the URL of the page of the room, to share with people; missing if the Host header is malformed',
      'http://localhost:8080/r/7KQ2MX',
    ),
    ...roomState,
    limits: roomLimits,
  },
});

/** `pin` is the new PIN, so the current one cannot be in the body. A request has at least one of the fields. */
export const updateRoomRequest = objectWith({
  minProperties: 1,
  properties: {
    'expiresIn?': described(expiresIn, 'a whole number of seconds from now, 60 or more'),
    'extend?': newExtend,
    'pin?': {
      ...pin,
      type: ['string', 'null'],
      description: 'the new PIN, a string of exactly four digits, or null for no PIN',
    },
    'name?': newName,
  },
});

export const roomInfo = objectWith({
  examples: [
    {
      roomId: roomId.examples[0],
      ...exampleRoom,
      deviceCount: 2,
      fileCount: 3,
      fileBytes: 34_567,
      limits: defaultRoomLimits,
    },
  ],
  properties: {
    roomId,
    'role?': linkRole,
    ...roomState,
    'name?': described(roomName, `${roomName.description}; for a drop link, the name of the link`),
    deviceCount: natural('the number of devices in the room', 2),
    fileCount: natural('the number of files, with unfinished uploads and files that can be restored', 3),
    fileBytes: natural('their size in bytes', 34_567),
    limits: roomLimits,
  },
});

export const createLinkRequest = objectWith({
  properties: {
    role: described(linkRole, '"read" or "drop"'),
    'name?': {
      type: ['string', 'null'],
      description:
        `a string of at most ${maxNameLength.device} characters, sealed in an encrypted room; droppers see it, and ` +
        'members see devices without a name of their own under it',
      examples: ['Photos of the party'],
    },
    'expiresIn?': described(expiresIn, 'a whole number of seconds, 60 or more; default: until the room ends'),
  },
  examples: [{ role: 'drop', name: 'Photos of the party', expiresIn: 3600 }],
});

export const link = objectWith({
  examples: [
    {
      linkId: '4VNR8M2KQX7D5HWT9CJZ3BPA',
      role: 'drop',
      link: 'http://localhost:8080/r/4VNR8M2KQX7D5HWT9CJZ3BPA',
      name: 'Photos of the party',
      createdAt: '2026-11-15T09:30:00.000Z',
      expiresAt: '2026-11-15T10:30:00.000Z',
    },
  ],
  properties: {
    linkId: matching(
      '^[0-9A-HJKMNP-TV-Z]{24}$',
      'the id of the link, which replaces the room code in every path',
      '4VNR8M2KQX7D5HWT9CJZ3BPA',
    ),
    role: described(linkRole, '`read` or `drop`'),
    'link?': uri(
      'the URL of the page for its holders; in an encrypted room they also need the fragment, which clients add; ' +
        'missing if the Host header is malformed',
      'http://localhost:8080/r/4VNR8M2KQX7D5HWT9CJZ3BPA',
    ),
    'name?': bounded(
      'string',
      { minLength: 1, maxLength: envelopeSize('device', maxPayloadBytes.device) },
      'its name, sealed in an encrypted room; missing if it has none',
      'Photos of the party',
    ),
    createdAt: timestamp('when it was created'),
    'expiresAt?': timestamp('when it expires; missing if it ends with its room', '2026-11-15T10:30:00.000Z'),
    'lastUsed?': timestamp('when it was last used, to the minute; missing if it was not', '2026-11-15T09:45:00.000Z'),
  },
});

export const linkList = object({ links: { type: 'array', description: 'the links, oldest first', items: link } });

/** A body with only the PIN, for clients that do not use the header. */
export const pinOnlyRequest = object({ 'pin?': pin });

export const issueTicketRequest = object({
  'pin?': pin,
  'uploads?': bounded(
    'integer',
    { minimum: 1, maximum: 1_000_000 },
    'a whole number from 1: how many files you are about to upload',
    40,
  ),
});

export const confirmation = object({ success, message: string('a sentence for people', 'Room 7KQ2MX was deleted.') });

export const writeContentRequest = objectWith({
  properties: { content, 'pin?': pin },
  examples: [{ content: 'Hello' }],
});

export const contentWritten = object({ success, content, version, timestamp: timestamp('when this text was written') });

export const compactContentRequest = objectWith({
  properties: {
    content: { ...content, description: 'a string, the sealed snapshot', examples: sealed.examples },
    version: described(version, 'a whole number, the version that the snapshot contains'),
  },
  examples: [{ content: sealed.examples[0], version: 7 }],
});

export const editContentRequest = objectWith({
  // `edits`, `append` and `sealed` exclude each other.
  examples: [{ edits: [{ from: 5, to: 5, insert: ', world' }], baseVersion: 7, pin: '0427' }],
  properties: {
    'edits?': edits,
    'baseVersion?': described(version, 'a whole number, the version that the edits apply to; default: the current one'),
    'append?': string('a string to append, instead of `edits`', 'one more line\n'),
    'sealed?': described(sealed, `${sealed.description}; in an encrypted room, instead of \`edits\``),
    'pin?': pin,
  },
});

export const contentEdited = objectWithExample({
  properties: { success, version, timestamp: timestamp('when it was written'), 'compact?': compact },
});

const checkpointProperties = {
  version,
  timestamp: timestamp('when this text was written'),
  size: natural('bytes of UTF-8', 512),
  'deviceId?': described(deviceId, 'the device that wrote it; missing if the request had no device id'),
} as const;

export const historyEntry = object(checkpointProperties);

export const historyList = object({ history: { type: 'array', description: 'newest first', items: historyEntry } });

export const historyText = object({ content, ...checkpointProperties });

export const contentRead = objectWith({
  properties: textWith('when this text was written; for a new room, when it was created'),
  examples: [{ content: 'Hello', version: 7, timestamp: '2026-11-15T09:30:00.000Z' }],
});

/** For documentation only. The form parser validates uploads. */
export const uploadForm = object({
  'pin?': described(pin, 'the PIN, if neither the header nor the query has it; must precede the file'),
  'once?': {
    type: 'string',
    enum: ['true', 'false'],
    description: '`true` for a one-time file; must precede the file',
  },
  'meta?': {
    type: 'string',
    description: 'in an encrypted room: the sealed metadata of the file; must precede the file',
  },
  file: {
    type: 'string',
    format: 'binary',
    contentMediaType: 'application/octet-stream',
    description: 'the bytes of the file',
  },
});

export const fileUploaded = objectWithExample({
  properties: { success, fileId, fileUrl, fileName, fileSize, 'once?': once },
});

export const fileClaimed = object({
  claim: matching('^[0-9a-f]{32}$', 'the claim, a secret', '4b2ae1f4d7c09a3361f08c5e92d7b6a0'),
  url: uri(
    'the URL of the file with the claim; it works until the claim ends',
    `${fileUrl.examples[0]}?claim=4b2ae1f4d7c09a3361f08c5e92d7b6a0`,
  ),
  expiresAt: timestamp('when the claim expires', '2026-11-15T10:00:00.000Z'),
});

export const ticketIssued = object({
  ticket: matching(
    '^[0-9a-z]{1,8}(\\.[0-9a-z]{1,4})?\\.[A-Za-z0-9_-]{16}\\.[A-Za-z0-9_-]{32}$',
    'the ticket, for the query of files.zip or the header X-Upload-Ticket',
    exampleTicket,
  ),
  url: uri(
    'the URL of the zip archive, with the ticket, or the URL for uploads',
    `http://localhost:8080/api/rooms/7KQ2MX/files.zip?ticket=${exampleTicket}`,
  ),
  expiresAt: timestamp('when the ticket expires', '2026-11-15T09:31:00.000Z'),
  'uploads?': bounded(
    'integer',
    { minimum: 1 },
    'how many uploads the ticket is for, if it was requested for uploads',
    40,
  ),
});

export const fileEntry = objectWithExample({
  description: 'a file, with its URL, name, size and type',
  properties: {
    fileId,
    fileUrl,
    fileName,
    fileSize,
    contentType: string('the type that the uploader declared', 'image/jpeg'),
    uploadedAt: timestamp('when the upload was complete'),
    'folder?': string('the path of its folder, with `/` between names; missing if it has none', 'photos/2026'),
    'deviceId?': described(deviceId, 'the device that uploaded it; missing if the request had no device id'),
    'once?': once,
    'meta?': {
      type: 'string',
      maxLength: maxDropEnvelope,
      description: 'in an encrypted room: the sealed name, type, folder, size and salt; missing in other rooms',
    },
  },
});

/** Of `?details=true`. Without it, `text` and `files` are missing. */
export const roomDetails = {
  ...roomInfo,
  properties: {
    ...roomInfo.properties,
    text: objectWith({
      description: 'the version, the size in bytes and the time of the text; only with `details=true`',
      properties: {
        version,
        bytes: natural('the size of the text in bytes', 1234),
        timestamp: timestamp('when this text was written'),
      },
    }),
    files: { type: 'array', items: fileEntry, description: 'the files, oldest first; only with `details=true`' },
  },
} as const;

export const fileList = object({ files: { type: 'array', items: fileEntry } });

/** In the order of the documentation. */
const webhookEvents = ['text', 'file', 'device', 'room'] as const;

const events = {
  type: 'array',
  minItems: 1,
  maxItems: webhookEvents.length,
  uniqueItems: true,
  items: { type: 'string', enum: webhookEvents, description: 'text, file, device or room' },
  description: 'a list of events: text, file, device, room',
  examples: [['text', 'file']],
} as const;

const webhookProperties = {
  id: matching('^[0-9a-f]{32}$', 'the id of the webhook, for its removal', '1c7e0b5f7d2a4f0c9b8e6a3d5c4f2e10'),
  host: string('the host of its URL; the rest may contain a token and is not returned', 'hooks.example.org'),
  events,
  createdAt: timestamp('when it was created'),
} as const;

export const createWebhookRequest = objectWith({
  properties: {
    url: string('a string, the URL that receives the events', 'https://hooks.example.org/kitchen'),
    'events?': described(events, `${events.description}; default: all`),
    'pin?': pin,
  },
  examples: [{ url: 'https://hooks.example.org/kitchen', events: ['text', 'file'] }],
});

export const webhookCreated = object({
  ...webhookProperties,
  secret: matching(
    '^whsec_[A-Za-z0-9+/]{43}=$',
    'the key of the signatures, which is not shown again',
    'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDAAAAAAAAAAA=',
  ),
});

export const webhookEntry = objectWith({
  description: 'a webhook, with its last delivery and its last error',
  properties: {
    ...webhookProperties,
    'lastDelivery?': timestamp('when an event was last delivered; missing if none was'),
    'lastError?': objectWith({
      description: 'the last failed attempt; missing if there was none since the last delivery',
      properties: {
        timestamp: timestamp('when it failed'),
        code: string(
          `the kind of failure, for programs: ${Object.keys(webhookErrors).join(', ')}; later versions may add others`,
          'STATUS',
        ),
        message: string('the same for people', 'The host responded with status 500.'),
        'status?': { type: 'integer', description: 'the status of the response, if there was one', examples: [500] },
      },
    }),
  },
});

export const webhookList = object({ webhooks: { type: 'array', items: webhookEntry, description: 'oldest first' } });

export const serverLimits = object({
  ...limitProperties(() => true),
  storedBytes: natural('the bytes that you have stored on this server', 34_567),
  apiKeyRequired: flag('whether every request needs an API key', false),
  roomCreation: oneOf(
    creationModes,
    'who may create rooms: everyone (`open`), clients with an API key (`key`) or the password (`password`), or users ' +
      'who have signed in at the proxy of the server (`proxy`). An API key always works.',
    'open',
  ),
  webhooks: flag('whether rooms can have webhooks', false),
  reports: flag('whether rooms can be reported to the operator', false),
  'abuseContact?': string(
    'where to reach the operator about abuse: an email address or a URL; missing if the operator gave none',
    'abuse@example.org',
  ),
  demo: flag(
    'whether the server is a public demonstration, where a room ends 15 minutes after its creation at the latest',
    false,
  ),
});

export const createReportRequest = object({
  reason: reportReason,
  'comment?': bounded(
    'string',
    { maxLength: maxReportComment },
    `details for the operator; at most ${maxReportComment} characters`,
    'The file setup.exe is a virus.',
  ),
});

export const createTokenRequest = object({
  password: bounded(
    'string',
    { minLength: 1, maxLength: 200 },
    'the password for creating rooms on this server',
    'correct horse battery',
  ),
});

export const createTokenIssued = object({
  token: string(
    'send it as `X-Create-Password`; it is as secret as the password',
    'popc.tlf2wq.Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmE',
  ),
  expiresAt: timestamp('when the token expires', '2026-12-15T09:30:00.000Z'),
});

export const healthReport = object({
  status: { type: 'string', enum: ['healthy', 'degraded'], description: '`degraded` if a store does not respond' },
  timestamp: timestamp('when the report was created'),
  uptime: { type: 'number', minimum: 0, description: 'seconds since the server started', examples: [86_400.123] },
});

export const probe = object({ status: { type: 'string', const: 'ok' } });

export const readiness = object({
  status: { type: 'string', enum: ['ready', 'not ready'] },
  checks: {
    type: 'object',
    description: 'the result of each check: `ok` or the problem',
    additionalProperties: { type: 'string' },
    examples: [{ store: 'ok', files: 'ok', disk: 'ok', uploads: 'ok', sweep: 'ok', server: 'ok' }],
  },
});

/** A document in a standard format, of which only the main parts are described. */
const machineReadable = (format: string, version: string, parts: string, description: string) => {
  const name = format.toLowerCase();
  return {
    type: 'object',
    required: [name, 'info', parts],
    properties: {
      [name]: string(`the version of ${format}`, version),
      info: { type: 'object', examples: [{ title: 'Poproom' }] },
      [parts]: { type: 'object', description, examples: [{}] },
    },
  } as const;
};

export const apiDescription = machineReadable('OpenAPI', '3.1.0', 'paths', 'the endpoints by path');
export const liveDescription = machineReadable('AsyncAPI', '3.0.0', 'channels', 'the ways to follow a room');

/** Later versions may add codes. */
export const errorCode = {
  type: 'string',
  enum: Object.keys(errorCodes) as ErrorCode[],
  description: 'stable, for programs; later versions may add codes',
  examples: ['ROOM_NOT_FOUND'],
} as const;

export const errorBody = object({
  success: { type: 'boolean', const: false },
  error: object({
    code: errorCode,
    message: string('a plain sentence, for people', 'There is no room with this code.'),
    'details?': { type: 'object', description: 'data for programs, depending on the code' },
  }),
  requestId: string('the id of this request in the server log, the same as in the header X-Request-Id', 'pZ3kVw8q-2s'),
});
