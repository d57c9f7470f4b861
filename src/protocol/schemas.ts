/** The schemas of all bodies: the source of validation, types and the OpenAPI document. */
import { type ErrorCode, errorCodes, webhookErrors } from './error-codes.ts';
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
  reportReason,
  roomId,
  roomName,
  salt,
  sealed,
  sealedEdits,
  timestamp,
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
const fileName = {
  type: 'string',
  description: 'the file name, without path components and control characters',
  examples: ['photo.jpg'],
} as const;
const fileSize = { type: 'integer', minimum: 0, description: 'the size in bytes', examples: [34_567] } as const;
const fileUrl = {
  type: 'string',
  format: 'uri',
  description: 'the URL of the file; anyone who knows it can read the file until its room ends',
  examples: ['http://localhost:8080/files/9f86d081884c7d659a2feaa0c55ad015/photo.jpg'],
} as const;

const fileId = {
  type: 'string',
  pattern: '^[0-9a-f]{32}$',
  description: 'the id of the file, for its URL and for removal',
  examples: ['9f86d081884c7d659a2feaa0c55ad015'],
} as const;

const once = {
  type: 'boolean',
  const: true,
  description: 'for a one-time file, which is erased after one receipt; missing for other files',
} as const;

const fileMeta = {
  type: 'string',
  maxLength: maxDropEnvelope,
  description: 'in an encrypted room: the sealed name, type, folder, size and salt; missing in other rooms',
} as const;

const exampleTicket = 'tghq3x.Zm9vYmFyYmF6cXV4.c2lnbmF0dXJlc2lnbmF0dXJlc2lnbmF0';

const natural = (description: string, example: number) =>
  ({ type: 'integer', minimum: 0, description, examples: [example] }) as const;

/** The schemas of limits that settings change, by their names in the API. */
const limitProperties = (isIncluded: (limit: LimitSetting) => boolean) =>
  Object.fromEntries(
    limitTable.filter(([, limit]) => isIncluded(limit)).map(([, limit]) => [limit.name, limitSchema(limit)]),
  );

function limitSchema({ description, default: value, mayBeOff }: LimitSetting) {
  if (!mayBeOff) return natural(description, value);
  const orNull = ['integer', 'null'] as const;
  return { type: orNull, minimum: 0, description: `${description}; null for no limit`, examples: [value] } as const;
}

export const roomLimits = {
  type: 'object',
  additionalProperties: false,
  required: Object.keys(defaultRoomLimits),
  description: 'the limits of each room on this server',
  properties: limitProperties(({ isPerRoom }) => isPerRoom === true),
} as const;

/** The maximum lifetime is a setting, so it is checked outside the schema. */
const expiresIn = {
  type: 'integer',
  minimum: 60,
  description: 'a whole number of seconds, 60 or more',
  examples: [3600],
} as const;

/** Unlike `extend` in a response, it can be false. */
const newExtend = {
  type: 'boolean',
  description: 'true or false; with true, each write restarts the lifetime of the room',
  examples: [true],
} as const;

/** Cleaned before its length is checked, so the schema has no maximum. */
const newName = {
  type: ['string', 'null'],
  description: `a string of at most ${maxNameLength.room} characters, sealed in an encrypted room; null or "" for no name`,
  examples: ['Kitchen table'],
} as const;

/** Only the creator knows the room key. The server stores the salt and the verifier. */
const encryption = {
  type: 'object',
  additionalProperties: false,
  required: ['scheme', 'salt', 'verifier'],
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
} as const;

export const createRoomRequest = {
  type: 'object',
  additionalProperties: false,
  properties: {
    pin,
    expiresIn,
    extend: newExtend,
    name: newName,
    history: {
      type: 'boolean',
      description: 'true or false; with false, the room keeps no earlier texts',
      examples: [false],
    },
    encryption,
  },
  examples: [{ pin: '0427', expiresIn: 3600, name: 'Kitchen table', history: false }],
} as const;

const exampleRoom = { expiresAt: expiresAt.examples[0], hasPin: true, name: roomName.examples[0] };

export const roomCreated = {
  type: 'object',
  additionalProperties: false,
  required: ['roomId', 'expiresAt', 'hasPin', 'limits'],
  examples: [
    { roomId: roomId.examples[0], link: 'http://localhost:8080/r/7KQ2MX', ...exampleRoom, limits: defaultRoomLimits },
  ],
  properties: {
    roomId,
    link: {
      type: 'string',
      format: 'uri',
      description: 'the URL of the page of the room, to share with people; missing if the Host header is malformed',
      examples: ['http://localhost:8080/r/7KQ2MX'],
    },
    expiresAt,
    extend,
    hasPin,
    encrypted,
    name: roomName,
    limits: roomLimits,
  },
} as const;

/** `pin` is the new PIN, so the current one cannot be in the body. A request has at least one of the fields. */
export const updateRoomRequest = {
  type: 'object',
  additionalProperties: false,
  minProperties: 1,
  properties: {
    expiresIn: { ...expiresIn, description: 'a whole number of seconds from now, 60 or more' },
    extend: newExtend,
    pin: {
      ...pin,
      type: ['string', 'null'],
      description: 'the new PIN, a string of exactly four digits, or null for no PIN',
    },
    name: newName,
  },
} as const;

export const roomInfo = {
  type: 'object',
  additionalProperties: false,
  required: ['roomId', 'expiresAt', 'hasPin', 'deviceCount', 'fileCount', 'fileBytes', 'limits'],
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
    role: linkRole,
    expiresAt,
    extend,
    hasPin,
    encrypted,
    name: { ...roomName, description: `${roomName.description}; for a drop link, the name of the link` },
    deviceCount: { type: 'integer', minimum: 0, description: 'the number of devices in the room', examples: [2] },
    fileCount: {
      type: 'integer',
      minimum: 0,
      description: 'the number of files, with unfinished uploads and files that can be restored',
      examples: [3],
    },
    fileBytes: natural('their size in bytes', 34_567),
    limits: roomLimits,
  },
} as const;

const linkName = {
  type: ['string', 'null'],
  description:
    `a string of at most ${maxNameLength.device} characters, sealed in an encrypted room; droppers see it, and ` +
    'members see devices without a name of their own under it',
  examples: ['Photos of the party'],
} as const;

export const createLinkRequest = {
  type: 'object',
  additionalProperties: false,
  required: ['role'],
  properties: {
    role: { ...linkRole, description: '"read" or "drop"' },
    name: linkName,
    expiresIn: { ...expiresIn, description: 'a whole number of seconds, 60 or more; default: until the room ends' },
  },
  examples: [{ role: 'drop', name: 'Photos of the party', expiresIn: 3600 }],
} as const;

export const link = {
  type: 'object',
  additionalProperties: false,
  required: ['linkId', 'role', 'createdAt'],
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
    linkId: {
      type: 'string',
      pattern: '^[0-9A-HJKMNP-TV-Z]{24}$',
      description: 'the id of the link, which replaces the room code in every path',
      examples: ['4VNR8M2KQX7D5HWT9CJZ3BPA'],
    },
    role: { ...linkRole, description: '`read` or `drop`' },
    link: {
      type: 'string',
      format: 'uri',
      description:
        'the URL of the page for its holders; in an encrypted room they also need the fragment, which clients add; ' +
        'missing if the Host header is malformed',
      examples: ['http://localhost:8080/r/4VNR8M2KQX7D5HWT9CJZ3BPA'],
    },
    name: {
      type: 'string',
      minLength: 1,
      maxLength: envelopeSize('device', maxPayloadBytes.device),
      description: 'its name, sealed in an encrypted room; missing if it has none',
      examples: ['Photos of the party'],
    },
    createdAt: timestamp('when it was created'),
    expiresAt: timestamp('when it expires; missing if it ends with its room', '2026-11-15T10:30:00.000Z'),
    lastUsed: timestamp('when it was last used, to the minute; missing if it was not', '2026-11-15T09:45:00.000Z'),
  },
} as const;

export const linkList = {
  type: 'object',
  additionalProperties: false,
  required: ['links'],
  properties: { links: { type: 'array', description: 'the links, oldest first', items: link } },
} as const;

/** A body with only the PIN, for clients that do not use the header. */
export const pinOnlyRequest = { type: 'object', additionalProperties: false, properties: { pin } } as const;

export const issueTicketRequest = {
  type: 'object',
  additionalProperties: false,
  properties: {
    pin,
    uploads: {
      type: 'integer',
      minimum: 1,
      maximum: 1_000_000,
      description: 'a whole number from 1: how many files you are about to upload',
      examples: [40],
    },
  },
} as const;

export const confirmation = {
  type: 'object',
  additionalProperties: false,
  required: ['success', 'message'],
  properties: {
    success,
    message: { type: 'string', description: 'a sentence for people', examples: ['Room 7KQ2MX was deleted.'] },
  },
} as const;

export const writeContentRequest = {
  type: 'object',
  additionalProperties: false,
  required: ['content'],
  properties: { content, pin },
  examples: [{ content: 'Hello' }],
} as const;

export const contentWritten = {
  type: 'object',
  additionalProperties: false,
  required: ['success', 'content', 'version', 'timestamp'],
  properties: { success, content, version, timestamp: timestamp('when this text was written') },
} as const;

export const compactContentRequest = {
  type: 'object',
  additionalProperties: false,
  required: ['content', 'version'],
  properties: {
    content: { ...content, description: 'a string, the sealed snapshot', examples: sealed.examples },
    version: { ...version, description: 'a whole number, the version that the snapshot contains' },
  },
  examples: [{ content: sealed.examples[0], version: 7 }],
} as const;

export const editContentRequest = {
  type: 'object',
  additionalProperties: false,
  // `edits`, `append` and `sealed` exclude each other.
  examples: [{ edits: [{ from: 5, to: 5, insert: ', world' }], baseVersion: 7, pin: '0427' }],
  properties: {
    edits,
    baseVersion: {
      ...version,
      description: 'a whole number, the version that the edits apply to; default: the current one',
    },
    append: {
      type: 'string',
      description: 'a string to append, instead of `edits`',
      examples: ['one more line\n'],
    },
    sealed: { ...sealed, description: `${sealed.description}; in an encrypted room, instead of \`edits\`` },
    pin,
  },
} as const;

export const contentEdited = {
  type: 'object',
  additionalProperties: false,
  required: ['success', 'version', 'timestamp'],
  examples: [{ success: true, version: 7, timestamp: '2026-11-15T09:30:00.000Z' }],
  properties: { success, version, timestamp: timestamp('when it was written'), compact },
} as const;

const checkpointProperties = {
  version,
  timestamp: timestamp('when this text was written'),
  size: { type: 'integer', minimum: 0, description: 'bytes of UTF-8', examples: [512] },
  deviceId: { ...deviceId, description: 'the device that wrote it; missing if the request had no device id' },
} as const;

export const historyEntry = {
  type: 'object',
  additionalProperties: false,
  required: ['version', 'timestamp', 'size'],
  properties: checkpointProperties,
} as const;

export const historyList = {
  type: 'object',
  additionalProperties: false,
  required: ['history'],
  properties: { history: { type: 'array', description: 'newest first', items: historyEntry } },
} as const;

export const historyText = {
  type: 'object',
  additionalProperties: false,
  required: ['content', 'version', 'timestamp', 'size'],
  properties: { content, ...checkpointProperties },
} as const;

export const contentRead = {
  type: 'object',
  additionalProperties: false,
  required: ['content', 'version', 'timestamp'],
  properties: {
    content,
    version,
    timestamp: timestamp('when this text was written; for a new room, when it was created'),
    contentVersion,
    sealedEdits,
  },
  examples: [{ content: 'Hello', version: 7, timestamp: '2026-11-15T09:30:00.000Z' }],
} as const;

/** For documentation only. The form parser validates uploads. */
export const uploadForm = {
  type: 'object',
  additionalProperties: false,
  required: ['file'],
  properties: {
    pin: { ...pin, description: 'the PIN, if neither the header nor the query has it; must precede the file' },
    once: {
      type: 'string',
      enum: ['true', 'false'],
      description: '`true` for a one-time file; must precede the file',
    },
    meta: {
      type: 'string',
      description: 'in an encrypted room: the sealed metadata of the file; must precede the file',
    },
    file: {
      type: 'string',
      format: 'binary',
      contentMediaType: 'application/octet-stream',
      description: 'the bytes of the file',
    },
  },
} as const;

export const fileUploaded = {
  type: 'object',
  additionalProperties: false,
  required: ['success', 'fileId', 'fileUrl', 'fileName', 'fileSize'],
  examples: [
    {
      success: true,
      fileId: fileId.examples[0],
      fileUrl: fileUrl.examples[0],
      fileName: fileName.examples[0],
      fileSize: fileSize.examples[0],
    },
  ],
  properties: { success, fileId, fileUrl, fileName, fileSize, once },
} as const;

export const fileClaimed = {
  type: 'object',
  additionalProperties: false,
  required: ['claim', 'url', 'expiresAt'],
  properties: {
    claim: {
      type: 'string',
      pattern: '^[0-9a-f]{32}$',
      description: 'the claim, a secret',
      examples: ['4b2ae1f4d7c09a3361f08c5e92d7b6a0'],
    },
    url: {
      type: 'string',
      format: 'uri',
      description: 'the URL of the file with the claim; it works until the claim ends',
      examples: [`${fileUrl.examples[0]}?claim=4b2ae1f4d7c09a3361f08c5e92d7b6a0`],
    },
    expiresAt: timestamp('when the claim expires', '2026-11-15T10:00:00.000Z'),
  },
} as const;

export const ticketIssued = {
  type: 'object',
  additionalProperties: false,
  required: ['ticket', 'url', 'expiresAt'],
  properties: {
    ticket: {
      type: 'string',
      pattern: '^[0-9a-z]{1,8}(\\.[0-9a-z]{1,4})?\\.[A-Za-z0-9_-]{16}\\.[A-Za-z0-9_-]{32}$',
      description: 'the ticket, for the query of files.zip or the header X-Upload-Ticket',
      examples: [exampleTicket],
    },
    url: {
      type: 'string',
      format: 'uri',
      description: 'the URL of the zip archive, with the ticket, or the URL for uploads',
      examples: [`http://localhost:8080/api/rooms/7KQ2MX/files.zip?ticket=${exampleTicket}`],
    },
    expiresAt: timestamp('when the ticket expires', '2026-11-15T09:31:00.000Z'),
    uploads: {
      type: 'integer',
      minimum: 1,
      description: 'how many uploads the ticket is for, if it was requested for uploads',
      examples: [40],
    },
  },
} as const;

export const fileEntry = {
  type: 'object',
  additionalProperties: false,
  required: ['fileId', 'fileUrl', 'fileName', 'fileSize', 'contentType', 'uploadedAt'],
  examples: [
    {
      fileId: '9f86d081884c7d659a2feaa0c55ad015',
      fileUrl: fileUrl.examples[0],
      fileName: fileName.examples[0],
      fileSize: fileSize.examples[0],
      contentType: 'image/jpeg',
      uploadedAt: '2026-11-15T09:30:00.000Z',
    },
  ],
  description: 'a file, with its URL, name, size and type',
  properties: {
    fileId,
    fileUrl,
    fileName,
    fileSize,
    contentType: { type: 'string', description: 'the type that the uploader declared', examples: ['image/jpeg'] },
    uploadedAt: timestamp('when the upload was complete'),
    folder: {
      type: 'string',
      description: 'the path of its folder, with `/` between names; missing if it has none',
      examples: ['photos/2026'],
    },
    deviceId: { ...deviceId, description: 'the device that uploaded it; missing if the request had no device id' },
    once,
    meta: fileMeta,
  },
} as const;

/** Of `?details=true`. Without it, `text` and `files` are missing. */
export const roomDetails = {
  ...roomInfo,
  properties: {
    ...roomInfo.properties,
    text: {
      type: 'object',
      additionalProperties: false,
      required: ['version', 'bytes', 'timestamp'],
      description: 'the version, the size in bytes and the time of the text; only with `details=true`',
      properties: {
        version,
        bytes: natural('the size of the text in bytes', 1234),
        timestamp: timestamp('when this text was written'),
      },
    },
    files: { type: 'array', items: fileEntry, description: 'the files, oldest first; only with `details=true`' },
  },
} as const;

export const fileList = {
  type: 'object',
  additionalProperties: false,
  required: ['files'],
  properties: { files: { type: 'array', items: fileEntry } },
} as const;

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
  id: {
    type: 'string',
    pattern: '^[0-9a-f]{32}$',
    description: 'the id of the webhook, for its removal',
    examples: ['1c7e0b5f7d2a4f0c9b8e6a3d5c4f2e10'],
  },
  host: {
    type: 'string',
    description: 'the host of its URL; the rest may contain a token and is not returned',
    examples: ['hooks.example.org'],
  },
  events,
  createdAt: timestamp('when it was created'),
} as const;

export const createWebhookRequest = {
  type: 'object',
  additionalProperties: false,
  required: ['url'],
  properties: {
    url: {
      type: 'string',
      description: 'a string, the URL that receives the events',
      examples: ['https://hooks.example.org/kitchen'],
    },
    events: { ...events, description: `${events.description}; default: all` },
    pin,
  },
  examples: [{ url: 'https://hooks.example.org/kitchen', events: ['text', 'file'] }],
} as const;

export const webhookCreated = {
  type: 'object',
  additionalProperties: false,
  required: ['id', 'host', 'events', 'createdAt', 'secret'],
  properties: {
    ...webhookProperties,
    secret: {
      type: 'string',
      pattern: '^whsec_[A-Za-z0-9+/]{43}=$',
      description: 'the key of the signatures, which is not shown again',
      examples: ['whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDAAAAAAAAAAA='],
    },
  },
} as const;

export const webhookEntry = {
  type: 'object',
  additionalProperties: false,
  required: ['id', 'host', 'events', 'createdAt'],
  description: 'a webhook, with its last delivery and its last error',
  properties: {
    ...webhookProperties,
    lastDelivery: timestamp('when an event was last delivered; missing if none was'),
    lastError: {
      type: 'object',
      additionalProperties: false,
      required: ['timestamp', 'code', 'message'],
      description: 'the last failed attempt; missing if there was none since the last delivery',
      properties: {
        timestamp: timestamp('when it failed'),
        code: {
          type: 'string',
          description: `the kind of failure, for programs: ${Object.keys(webhookErrors).join(', ')}; later versions may add others`,
          examples: ['STATUS'],
        },
        message: {
          type: 'string',
          description: 'the same for people',
          examples: ['The host responded with status 500.'],
        },
        status: { type: 'integer', description: 'the status of the response, if there was one', examples: [500] },
      },
    },
  },
} as const;

export const webhookList = {
  type: 'object',
  additionalProperties: false,
  required: ['webhooks'],
  properties: { webhooks: { type: 'array', items: webhookEntry, description: 'oldest first' } },
} as const;

const serverLimitProperties = {
  ...limitProperties(() => true),
  storedBytes: natural('the bytes that you have stored on this server', 34_567),
  apiKeyRequired: { type: 'boolean', description: 'whether every request needs an API key', examples: [false] },
  roomCreation: {
    type: 'string',
    enum: creationModes,
    description:
      'who may create rooms: everyone (`open`), clients with an API key (`key`) or the password (`password`), or users ' +
      'who have signed in at the proxy of the server (`proxy`). An API key always works.',
    examples: ['open'],
  },
  webhooks: { type: 'boolean', description: 'whether rooms can have webhooks', examples: [false] },
  reports: { type: 'boolean', description: 'whether rooms can be reported to the operator', examples: [false] },
  abuseContact: {
    type: 'string',
    description:
      'where to reach the operator about abuse: an email address or a URL; missing if the operator gave none',
    examples: ['abuse@example.org'],
  },
  demo: {
    type: 'boolean',
    description:
      'whether the server is a public demonstration, where a room ends 15 minutes after its creation at the latest',
    examples: [false],
  },
};

export const createReportRequest = {
  type: 'object',
  additionalProperties: false,
  required: ['reason'],
  properties: {
    reason: reportReason,
    comment: {
      type: 'string',
      maxLength: maxReportComment,
      description: `details for the operator; at most ${maxReportComment} characters`,
      examples: ['The file setup.exe is a virus.'],
    },
  },
} as const;

export const createTokenRequest = {
  type: 'object',
  additionalProperties: false,
  required: ['password'],
  properties: {
    password: {
      type: 'string',
      minLength: 1,
      maxLength: 200,
      description: 'the password for creating rooms on this server',
      examples: ['correct horse battery'],
    },
  },
} as const;

export const createTokenIssued = {
  type: 'object',
  additionalProperties: false,
  required: ['token', 'expiresAt'],
  properties: {
    token: {
      type: 'string',
      description: 'send it as `X-Create-Password`; it is as secret as the password',
      examples: ['popc.tlf2wq.Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmE'],
    },
    expiresAt: timestamp('when the token expires', '2026-12-15T09:30:00.000Z'),
  },
} as const;

export const serverLimits = {
  type: 'object',
  additionalProperties: false,
  required: Object.keys(serverLimitProperties).filter((name) => name !== 'abuseContact'),
  properties: serverLimitProperties,
} as const;

export const healthReport = {
  type: 'object',
  additionalProperties: false,
  required: ['status', 'timestamp', 'uptime'],
  properties: {
    status: { type: 'string', enum: ['healthy', 'degraded'], description: '`degraded` if a store does not respond' },
    timestamp: timestamp('when the report was created'),
    uptime: { type: 'number', minimum: 0, description: 'seconds since the server started', examples: [86_400.123] },
  },
} as const;

export const probe = {
  type: 'object',
  additionalProperties: false,
  required: ['status'],
  properties: { status: { type: 'string', const: 'ok' } },
} as const;

export const readiness = {
  type: 'object',
  additionalProperties: false,
  required: ['status', 'checks'],
  properties: {
    status: { type: 'string', enum: ['ready', 'not ready'] },
    checks: {
      type: 'object',
      description: 'the result of each check: `ok` or the problem',
      additionalProperties: { type: 'string' },
      examples: [{ store: 'ok', files: 'ok', disk: 'ok', uploads: 'ok', sweep: 'ok', server: 'ok' }],
    },
  },
} as const;

export const apiDescription = {
  type: 'object',
  required: ['openapi', 'info', 'paths'],
  properties: {
    openapi: { type: 'string', description: 'the version of OpenAPI', examples: ['3.1.0'] },
    info: { type: 'object', examples: [{ title: 'Poproom' }] },
    paths: { type: 'object', description: 'the endpoints by path', examples: [{}] },
  },
} as const;

export const liveDescription = {
  type: 'object',
  required: ['asyncapi', 'info', 'channels'],
  properties: {
    asyncapi: { type: 'string', description: 'the version of AsyncAPI', examples: ['3.0.0'] },
    info: { type: 'object', examples: [{ title: 'Poproom' }] },
    channels: { type: 'object', description: 'the ways to follow a room', examples: [{}] },
  },
} as const;

/** Later versions may add codes. */
export const errorCode = {
  type: 'string',
  enum: Object.keys(errorCodes) as ErrorCode[],
  description: 'stable, for programs; later versions may add codes',
  examples: ['ROOM_NOT_FOUND'],
} as const;

export const errorBody = {
  type: 'object',
  additionalProperties: false,
  required: ['success', 'error', 'requestId'],
  properties: {
    success: { type: 'boolean', const: false },
    error: {
      type: 'object',
      additionalProperties: false,
      required: ['code', 'message'],
      properties: {
        code: errorCode,
        message: {
          type: 'string',
          description: 'a plain sentence, for people',
          examples: ['There is no room with this code.'],
        },
        details: { type: 'object', description: 'data for programs, depending on the code' },
      },
    },
    requestId: {
      type: 'string',
      description: 'the id of this request in the server log, the same as in the header X-Request-Id',
      examples: ['pZ3kVw8q-2s'],
    },
  },
} as const;
