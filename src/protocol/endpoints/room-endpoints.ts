/** Endpoints of rooms: the room itself, its links, its text and history, its live channels and its webhooks. */
import { resumeToken } from '../fields.ts';
import { resumeHeader } from '../live-protocol.ts';
import * as schemas from '../schemas.ts';
import {
  anyRequest,
  confirms,
  endpointsWith,
  idempotencyKey,
  inHeader,
  inPath,
  inQuery,
  listLimit,
  responds,
  roomEndpointsWith,
  roomId,
} from './endpoint.ts';

const creation = endpointsWith({ tag: 'Rooms', errors: [...anyRequest, 'PASSWORD_INCORRECT'] });
const rooms = roomEndpointsWith({ tag: 'Rooms' });

const createPassword = inHeader(
  'X-Create-Password',
  'On a server that requires a password for creating rooms: the password, or a token from `POST /api/create-token`.',
  'correct horse battery',
);

const withDetails = inQuery(
  'details',
  '`true` also returns the version and the size of the text, and the list of files.',
  'true',
  '^(true|false)$',
);

export const roomsEndpoints = {
  createRoom: creation('POST', '/api/rooms', 'Create a room', {
    description:
      'Creates a room, optionally with a PIN, a name and a lifetime. The body is optional. A room expires after {{roomLifetime}}, ' +
      'or after `expiresIn` seconds: from 60 to {{roomMaxSeconds}}. With `encryption`, the room is encrypted: it stores ' +
      'only sealed data, and every request needs `X-Room-Auth`. {{createRule}}',
    parameters: [idempotencyKey, createPassword],
    body: { schema: schemas.createRoomRequest, required: false },
    successes: [responds('The room was created.', schemas.roomCreated, { status: 201, headers: ['RoomLocation'] })],
    errors: ['IDEMPOTENCY_KEY_REUSED', 'PASSWORD_REQUIRED', 'SIGN_IN_REQUIRED', 'ENCRYPTION_REQUIRED', 'STORAGE_FULL'],
  }),
  getRoom: rooms('readRoom', 'GET', '', 'Get room information', {
    description:
      'Returns when the room expires, whether it has a PIN, and how many devices are in it. With `details=true`, a single ' +
      'request also returns the version and the size of the text, and the list of files.',
    parameters: [withDetails],
    successes: [responds('The room.', schemas.roomDetails)],
  }),
  updateRoom: rooms('changeRoom', 'PATCH', '', 'Change a room', {
    description:
      'Changes when the room expires, its PIN or its name, and leaves the rest as it is. Send at least one field. ' +
      '`expiresIn` is the time left from now in seconds, from 60 to {{roomMaxSeconds}}, and can be longer or shorter than ' +
      'before. `pin` is the new PIN: send the current one in a header or the query. A new PIN ends all locks of the room. ' +
      'Devices with a live channel stay in the room, and all others need the new PIN. An encrypted room cannot have a PIN.',
    body: { schema: schemas.updateRoomRequest, required: true },
    successes: [responds('The room after the change.', schemas.roomInfo)],
    errors: ['ENCRYPTION_REQUIRED', 'STORAGE_FULL'],
  }),
  deleteRoom: rooms('changeRoom', 'DELETE', '', 'Delete a room', {
    description: 'Deletes the room with its text and files, immediately and permanently.',
    successes: [confirms('The room was deleted.', 'Room 7KQ2MX was deleted.')],
    errors: ['STORAGE_FULL'],
  }),
  createLink: rooms('manageLinks', 'POST', '/links', 'Create a link with a role', {
    description:
      'Creates another id for the room, with fewer rights than its code: `read` for its information, text and files, ' +
      '`drop` for adding files without seeing anything. It works in every path in place of the room code, needs no PIN, ' +
      'and reveals nothing about the code. A room has at most 20 links, and they end with it.',
    body: { schema: schemas.createLinkRequest, required: true },
    successes: [responds('The link was created.', schemas.link, { status: 201 })],
    errors: ['TOO_MANY_LINKS', 'ENCRYPTION_REQUIRED', 'STORAGE_FULL'],
  }),
  listLinks: rooms('manageLinks', 'GET', '/links', 'List the links of a room', {
    description: 'Returns all links that have not expired, with the time of their last use.',
    successes: [responds('The links.', schemas.linkList)],
  }),
  revokeLink: rooms('manageLinks', 'DELETE', '/links/:linkId', 'Revoke a link', {
    description:
      'Ends a link immediately: its live channels are closed, and its running and unfinished uploads add no file. If its ' +
      'holders have kept the URL of a file, they can read it until the file is removed or the room ends.',
    parameters: [inPath('linkId', 'The id of the link.', '4VNR8M2KQX7D5HWT9CJZ3BPA')],
    successes: [confirms('The link was revoked.')],
    errors: ['NOT_FOUND', 'STORAGE_FULL'],
  }),
  reportRoom: rooms('reportRoom', 'POST', '/reports', 'Report a room', {
    description:
      'Reports the room to the operator, with a reason and a comment. The report contains no text and no files. A second ' +
      'report by the same client about the room replaces the first one. Exists only if `reports` in `GET /api/limits` is true.',
    body: { schema: schemas.createReportRequest, required: true },
    successes: [{ ...confirms('The operator can see your report.'), status: 201 }],
    errors: ['NOT_FOUND', 'TOO_MANY_REPORTS', 'STORAGE_FULL'],
  }),
  createToken: creation('POST', '/api/create-token', 'Get a token for creating rooms', {
    description:
      'Only on a server that requires a password for creating rooms. Exchanges the password for a token, which a device ' +
      'can keep instead: it works as `X-Create-Password` for 30 days, or until the operator changes the password.',
    body: { schema: schemas.createTokenRequest, required: true },
    successes: [responds('The token.', schemas.createTokenIssued)],
    errors: ['NOT_FOUND'],
  }),
};

const text = roomEndpointsWith({ tag: 'Text' });

const anyChange = ['ENCRYPTION_REQUIRED', 'VERSION_CONFLICT', 'QUOTA_EXCEEDED', 'STORAGE_FULL'] as const;
const anyWrite = [...anyChange, 'BASE_VERSION_REQUIRED', 'IDEMPOTENCY_KEY_REUSED'] as const;

export const textEndpoints = {
  writeContent: text('writeText', 'POST', '/content', 'Update room content', {
    description:
      'Replaces the text of the room. The maximum size, in UTF-8, is {{textSize}}. The text is on disk before the server ' +
      'responds. Each write creates the next version, which the response has in `version` and `ETag`.\n\n' +
      'A body of type `text/plain`, or of the default type of `curl -d`, is the text itself, in UTF-8. Send the PIN in a ' +
      'header or the query then. In an encrypted room, the text is sealed and `If-Match` is required.',
    parameters: [
      idempotencyKey,
      inHeader(
        'If-Match',
        'The version that this text is based on. If it is no longer current, nothing is overwritten.',
        '"6"',
      ),
    ],
    body: { schema: schemas.writeContentRequest, required: true, plainText: 'Hello' },
    successes: [responds('The text was stored.', schemas.contentWritten, { headers: ['ETag'] })],
    errors: anyWrite,
  }),
  readContent: text('readText', 'GET', '/content', 'Get room content', {
    description:
      'Returns the current text. It is empty before the first write. With `Accept: text/plain`, the response is only the ' +
      'text. Any other `Accept` returns JSON.\n\n' +
      'With `wait` and `If-None-Match`, the server responds when the text changes or the time has passed. The request ' +
      'counts once, and as a live channel while it waits. In an encrypted room, `content` is the sealed text of ' +
      '`contentVersion`, and `sealedEdits` lead from it to `version`.',
    parameters: [
      inHeader('If-None-Match', 'The version that you have.', '"7"'),
      inQuery(
        'wait',
        'How many seconds to wait for a change if `If-None-Match` names the current version, at most 60. Default: 0.',
        '30',
        '^([0-9]|[1-5][0-9]|60)$',
      ),
    ],
    successes: [
      responds('The text.', schemas.contentRead, { plainText: 'Hello', headers: ['ETag'] }),
      { status: 304, description: 'Your version is current.', headers: ['ETag'] },
    ],
  }),
  editContent: text('writeText', 'PATCH', '/content', 'Edit room content', {
    description:
      'Changes parts of the text, or appends to it, without sending the whole text. Send either `edits` or `append`. ' +
      '`edits` replace ranges of the version `baseVersion`, in UTF-16 code units. If the text has changed since, the server ' +
      'rebases them, so that no change is lost.\n\n' +
      'A body of type `text/plain`, or of the default type of `curl -d`, is appended as it is. Send the PIN in a header or ' +
      'the query then. In an encrypted room, send `sealed` and `baseVersion`: the server stores a sealed edit only on the ' +
      'current version, and otherwise returns `EDIT_CONFLICT` with the newer edits.',
    parameters: [idempotencyKey, inHeader('If-Match', 'Edit only if this is the current version.', '"6"')],
    body: { schema: schemas.editContentRequest, required: true, plainText: 'one more line\n' },
    successes: [responds('The edit was stored.', schemas.contentEdited, { headers: ['ETag'] })],
    errors: [...anyWrite, 'EDIT_CONFLICT', 'COMPACTION_REQUIRED'],
  }),
  compactContent: text('writeText', 'POST', '/content/compact', 'Store a snapshot of an encrypted text', {
    description:
      'Replaces the log of sealed edits up to `version` by a sealed snapshot of that version, which the log must contain. ' +
      'The text and its version stay the same. Send this when a response contains `compact`. You can safely repeat it.',
    body: { schema: schemas.compactContentRequest, required: true },
    successes: [responds('The snapshot was stored.', schemas.contentEdited, { headers: ['ETag'] })],
    errors: anyChange,
  }),
  listHistory: text('useHistory', 'GET', '/history', 'List earlier texts', {
    description:
      'Lists checkpoints of the text, newest first. To restore one, write it as the new text. A room keeps at most 50 ' +
      'checkpoints, with at most 4 MiB in total.\n\n' +
      'The server stores the first one after 3 seconds of changes, then one after every 30 seconds of changes, and one ' +
      'before each large removal or replacement. While a text is only replaced with `POST`, it stores at most one in 5 ' +
      'seconds, or in 30 seconds if the text is longer than 32,768 characters. In an encrypted room, only full texts and ' +
      'snapshots become checkpoints.',
    parameters: [listLimit],
    successes: [responds('The checkpoints.', schemas.historyList)],
  }),
  readHistory: text('useHistory', 'GET', '/history/:version', 'Get an earlier text', {
    description: 'Returns the text of a checkpoint.',
    parameters: [inPath('version', 'A version from the history.', '7', '^[0-9]{1,15}$')],
    successes: [responds('The text of that version.', schemas.historyText)],
    errors: ['NOT_FOUND'],
  }),
  clearHistory: text('useHistory', 'DELETE', '/history', 'Delete the history', {
    description:
      'Erases all checkpoints of the room and the log of its edits. The current text stays. In an encrypted room, sealed ' +
      'edits after `contentVersion` stay too, because they are part of the text.',
    successes: [confirms('The history was deleted.')],
    errors: ['STORAGE_FULL'],
  }),
};

export const liveEndpoints = {
  roomEvents: roomEndpointsWith({ tag: 'Live' })(
    'followRoom',
    'GET',
    '/events',
    'Follow a room over server-sent events',
    {
      description:
        'A stream of all changes in the room, starting with a `snapshot`, for `curl -N` and `EventSource`. ' +
        '`/api/asyncapi.json` describes the messages. Opening the stream counts as one request, unless it resumes another stream.',
      parameters: [
        inQuery('deviceId', 'The device id, instead of the header `X-Device-Id`.', 'my-phone'),
        inQuery('deviceName', 'The display name of the device.', 'Chrome on Android'),
        inQuery('carets', '`true` to receive the carets of other devices.', 'true'),
        inHeader(
          'Last-Event-ID',
          'The last `seq` that you received. The server sends a snapshot only if you missed something.',
          '12',
        ),
        inHeader(
          resumeHeader,
          'The latest `resumeToken` of a stream of this room that ended at most 10 minutes ago. The new stream then needs no ' +
            'PIN, does not count as a request, and opens even if the request limit is used up.',
          resumeToken.examples[0],
        ),
      ],
      successes: [
        {
          status: 200,
          description: 'The stream, until you close it.',
          mediaType: 'text/event-stream',
          example:
            'id: 4\nevent: content\ndata: {"type":"content","seq":4,"content":"Hello","version":4,"timestamp":"2026-11-15T09:30:00.000Z"}\n\n',
        },
      ],
      errors: ['ENCRYPTION_REQUIRED'],
      resumable: true,
    },
  ),
  liveChannel: endpointsWith({ tag: 'Live' })('GET', '/api/rooms/:roomId/live', 'Join a room over WebSocket', {
    operation: 'followRoom',
    description:
      'A bidirectional channel. Send `join` as the first message, within 5 seconds, with the PIN or `auth` if the room needs it. ' +
      '`/api/asyncapi.json` describes the messages. Opening the channel counts as one request; messages do not count. To resume a ' +
      'channel that ended at most 10 minutes ago, offer the subprotocols `poproom` and `resume.` followed by its latest ' +
      '`resumeToken`. The new channel then needs no PIN, does not count as a request, and opens even if the request limit ' +
      'is used up.',
    parameters: [roomId],
    successes: [
      { status: 101, description: 'The channel is open. Send `join`.' },
      { status: 200, description: 'The same over HTTP/2 (RFC 8441), if a proxy in front of the server supports it.' },
    ],
    errors: [...anyRequest, 'ORIGIN_NOT_ALLOWED', 'UPGRADE_REQUIRED'],
  }),
};

const webhooks = roomEndpointsWith({ tag: 'Webhooks' });

export const webhooksEndpoints = {
  createWebhook: webhooks('manageWebhooks', 'POST', '/webhooks', 'Create a webhook', {
    description:
      'Sends events of the room to a URL: `text`, `file`, `device` and `room`. The operator must have allowed its host. ' +
      'A room can have 5 webhooks. Requests are signed with `secret`, as Standard Webhooks specifies. They contain the ' +
      'link to the room and the version of the text, but not the text.',
    body: { schema: schemas.createWebhookRequest, required: true },
    successes: [responds('The webhook, with its secret.', schemas.webhookCreated, { status: 201 })],
    errors: ['WEBHOOK_NOT_ALLOWED', 'TOO_MANY_WEBHOOKS', 'STORAGE_FULL'],
  }),
  listWebhooks: webhooks('manageWebhooks', 'GET', '/webhooks', 'List webhooks', {
    description:
      'Lists the webhooks of the room, with the last delivery and the last error of each. Returns only the host of ' +
      'each URL, because the rest may contain a token.',
    successes: [
      responds('The webhooks.', schemas.webhookList, {
        example: {
          webhooks: [
            {
              id: '1c7e0b5f7d2a4f0c9b8e6a3d5c4f2e10',
              host: 'hooks.example.org',
              events: ['text', 'file'],
              createdAt: '2026-11-15T09:30:00.000Z',
            },
          ],
        },
      }),
    ],
  }),
  deleteWebhook: webhooks('manageWebhooks', 'DELETE', '/webhooks/:webhookId', 'Delete a webhook', {
    description: 'Deletes a webhook, with the events that are waiting for it.',
    parameters: [inPath('webhookId', 'The id of the webhook.', '1c7e0b5f7d2a4f0c9b8e6a3d5c4f2e10', '^[0-9a-f]{32}$')],
    successes: [confirms('The webhook was deleted.')],
    errors: ['NOT_FOUND', 'STORAGE_FULL'],
  }),
};
