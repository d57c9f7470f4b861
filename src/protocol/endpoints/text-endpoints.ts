/** Endpoints of the text and its history. */

import * as schemas from '../schemas.ts';
import {
  anyBody,
  anyKeyed,
  anyRoom,
  checkpointVersion,
  confirms,
  type Endpoint,
  endpointsWith,
  idempotencyKey,
  inHeader,
  inQuery,
  listLimit,
  responds,
  roomAccess,
} from './endpoint.ts';

const text = endpointsWith({ tag: 'Text', counted: true });

const anyWrite = [
  ...anyRoom,
  ...anyBody,
  ...anyKeyed,
  'ENCRYPTION_REQUIRED',
  'BASE_VERSION_REQUIRED',
  'VERSION_CONFLICT',
  'QUOTA_EXCEEDED',
  'STORAGE_FULL',
] as const;

export const textEndpoints = {
  writeContent: {
    ...text('POST', '/api/rooms/:roomId/content', 'Update room content', 'writeText'),
    description:
      'Replaces the text of the room. The maximum size, in UTF-8, is {{textSize}}. The text is on disk before the server ' +
      'responds. Each write creates the next version, which the response has in `version` and `ETag`.\n\n' +
      'A body of type `text/plain`, or of the default type of `curl -d`, is the text itself, in UTF-8. Send the PIN in a ' +
      'header or the query then. In an encrypted room, the text is sealed and `If-Match` is required.',
    parameters: [
      ...roomAccess,
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
  },
  readContent: {
    ...text('GET', '/api/rooms/:roomId/content', 'Get room content', 'readText'),
    description:
      'Returns the current text. It is empty before the first write. With `Accept: text/plain`, the response is only the ' +
      'text. Any other `Accept` returns JSON.\n\n' +
      'With `wait` and `If-None-Match`, the server responds when the text changes or the time has passed. The request ' +
      'counts once, and as a live channel while it waits. In an encrypted room, `content` is the sealed text of ' +
      '`contentVersion`, and `sealedEdits` lead from it to `version`.',
    parameters: [
      ...roomAccess,
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
    errors: anyRoom,
  },
  editContent: {
    ...text('PATCH', '/api/rooms/:roomId/content', 'Edit room content', 'writeText'),
    description:
      'Changes parts of the text, or appends to it, without sending the whole text. Send either `edits` or `append`. ' +
      '`edits` replace ranges of the version `baseVersion`, in UTF-16 code units. If the text has changed since, the server ' +
      'rebases them, so that no change is lost.\n\n' +
      'A body of type `text/plain`, or of the default type of `curl -d`, is appended as it is. Send the PIN in a header or ' +
      'the query then. In an encrypted room, send `sealed` and `baseVersion`: the server stores a sealed edit only on the ' +
      'current version, and otherwise returns `EDIT_CONFLICT` with the newer edits.',
    parameters: [
      ...roomAccess,
      idempotencyKey,
      inHeader('If-Match', 'Edit only if this is the current version.', '"6"'),
    ],
    body: { schema: schemas.editContentRequest, required: true, plainText: 'one more line\n' },
    successes: [responds('The edit was stored.', schemas.contentEdited, { headers: ['ETag'] })],
    errors: [...anyWrite, 'EDIT_CONFLICT', 'COMPACTION_REQUIRED'],
  },
  compactContent: {
    ...text('POST', '/api/rooms/:roomId/content/compact', 'Store a snapshot of an encrypted text', 'writeText'),
    description:
      'Replaces the log of sealed edits up to `version` by a sealed snapshot of that version, which the log must contain. ' +
      'The text and its version stay the same. Send this when a response contains `compact`. You can safely repeat it.',
    parameters: roomAccess,
    body: { schema: schemas.compactContentRequest, required: true },
    successes: [responds('The snapshot was stored.', schemas.contentEdited, { headers: ['ETag'] })],
    errors: [...anyRoom, ...anyBody, 'ENCRYPTION_REQUIRED', 'VERSION_CONFLICT', 'QUOTA_EXCEEDED', 'STORAGE_FULL'],
  },
  listHistory: {
    ...text('GET', '/api/rooms/:roomId/history', 'List earlier texts', 'useHistory'),
    description:
      'Lists checkpoints of the text, newest first. To restore one, write it as the new text. A room keeps at most 50 ' +
      'checkpoints, with at most 4 MiB in total.\n\n' +
      'The server stores the first one after 3 seconds of changes, then one after every 30 seconds of changes, and one ' +
      'before each large removal or replacement. While a text is only replaced with `POST`, it stores at most one in 5 ' +
      'seconds, or in 30 seconds if the text is longer than 32,768 characters. In an encrypted room, only full texts and ' +
      'snapshots become checkpoints.',
    parameters: [...roomAccess, listLimit],
    successes: [responds('The checkpoints.', schemas.historyList)],
    errors: anyRoom,
  },
  readHistory: {
    ...text('GET', '/api/rooms/:roomId/history/:version', 'Get an earlier text', 'useHistory'),
    description: 'Returns the text of a checkpoint.',
    parameters: [...roomAccess, checkpointVersion],
    successes: [responds('The text of that version.', schemas.historyText)],
    errors: [...anyRoom, 'NOT_FOUND'],
  },
  clearHistory: {
    ...text('DELETE', '/api/rooms/:roomId/history', 'Delete the history', 'useHistory'),
    description:
      'Erases all checkpoints of the room and the log of its edits. The current text stays. In an encrypted room, sealed ' +
      'edits after `contentVersion` stay too, because they are part of the text.',
    parameters: roomAccess,
    body: { schema: schemas.pinOnlyRequest, required: false },
    successes: [confirms('The history was deleted.')],
    errors: [...anyRoom, ...anyBody, 'STORAGE_FULL'],
  },
} as const satisfies Record<string, Endpoint>;
