/** Endpoints of the text and its history. */

import * as schemas from '../schemas.ts';
import {
  anyBody,
  anyKeyed,
  anyRoom,
  anySealedWrite,
  checkpointVersion,
  confirms,
  type Endpoint,
  idempotencyKey,
  listLimit,
  roomAccess,
} from './endpoint.ts';

export const textEndpoints = {
  writeContent: {
    method: 'POST',
    path: '/api/rooms/:roomId/content',
    tag: 'Text',
    operation: 'writeText',
    summary: 'Update room content',
    description:
      'Replaces the text of the room. The maximum size, in UTF-8, is {{textSize}}. The text is on disk before the server ' +
      'responds. Each write creates the next version, which the response has in `version` and `ETag`.\n\n' +
      'A body of type `text/plain`, or of the default type of `curl -d`, is the text itself, in UTF-8. Send the PIN in a ' +
      'header or the query then. In an encrypted room, the text is sealed and `If-Match` is required.',
    parameters: [
      ...roomAccess,
      idempotencyKey,
      {
        name: 'If-Match',
        in: 'header',
        description: 'The version that this text is based on. If it is no longer current, nothing is overwritten.',
        example: '"6"',
      },
    ],
    body: { schema: schemas.writeContentRequest, required: true, plainText: 'Hello' },
    successes: [
      { status: 200, description: 'The text was stored.', schema: schemas.contentWritten, headers: ['ETag'] },
    ],
    errors: [
      ...anyRoom,
      ...anyBody,
      ...anyKeyed,
      ...anySealedWrite,
      'VERSION_CONFLICT',
      'QUOTA_EXCEEDED',
      'STORAGE_FULL',
    ],
    counted: true,
  },
  readContent: {
    method: 'GET',
    path: '/api/rooms/:roomId/content',
    tag: 'Text',
    operation: 'readText',
    summary: 'Get room content',
    description:
      'Returns the current text. It is empty before the first write. With `Accept: text/plain`, the response is only the ' +
      'text. Any other `Accept` returns JSON.\n\n' +
      'With `wait` and `If-None-Match`, the server responds when the text changes or the time has passed. The request ' +
      'counts once, and as a live channel while it waits. In an encrypted room, `content` is the sealed text of ' +
      '`contentVersion`, and `sealedEdits` lead from it to `version`.',
    parameters: [
      ...roomAccess,
      { name: 'If-None-Match', in: 'header', description: 'The version that you have.', example: '"7"' },
      {
        name: 'wait',
        in: 'query',
        description:
          'How many seconds to wait for a change if `If-None-Match` names the current version, at most 60. Default: 0.',
        pattern: '^([0-9]|[1-5][0-9]|60)$',
        example: '30',
      },
    ],
    successes: [
      { status: 200, description: 'The text.', schema: schemas.contentRead, plainText: 'Hello', headers: ['ETag'] },
      { status: 304, description: 'Your version is current.', headers: ['ETag'] },
    ],
    errors: anyRoom,
    counted: true,
  },
  editContent: {
    method: 'PATCH',
    path: '/api/rooms/:roomId/content',
    tag: 'Text',
    operation: 'writeText',
    summary: 'Edit room content',
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
      {
        name: 'If-Match',
        in: 'header',
        description: 'Edit only if this is the current version.',
        example: '"6"',
      },
    ],
    body: { schema: schemas.editContentRequest, required: true, plainText: 'one more line\n' },
    successes: [{ status: 200, description: 'The edit was stored.', schema: schemas.contentEdited, headers: ['ETag'] }],
    errors: [
      ...anyRoom,
      ...anyBody,
      ...anyKeyed,
      ...anySealedWrite,
      'VERSION_CONFLICT',
      'EDIT_CONFLICT',
      'COMPACTION_REQUIRED',
      'QUOTA_EXCEEDED',
      'STORAGE_FULL',
    ],
    counted: true,
  },
  compactContent: {
    method: 'POST',
    path: '/api/rooms/:roomId/content/compact',
    tag: 'Text',
    operation: 'writeText',
    summary: 'Store a snapshot of an encrypted text',
    description:
      'Replaces the log of sealed edits up to `version` by a sealed snapshot of that version, which the log must contain. ' +
      'The text and its version stay the same. Send this when a response contains `compact`. You can safely repeat it.',
    parameters: roomAccess,
    body: { schema: schemas.compactContentRequest, required: true },
    successes: [
      { status: 200, description: 'The snapshot was stored.', schema: schemas.contentEdited, headers: ['ETag'] },
    ],
    errors: [...anyRoom, ...anyBody, 'ENCRYPTION_REQUIRED', 'VERSION_CONFLICT', 'QUOTA_EXCEEDED', 'STORAGE_FULL'],
    counted: true,
  },
  listHistory: {
    method: 'GET',
    path: '/api/rooms/:roomId/history',
    tag: 'Text',
    operation: 'useHistory',
    summary: 'List earlier texts',
    description:
      'Lists checkpoints of the text, newest first. To restore one, write it as the new text. A room keeps at most 50 ' +
      'checkpoints, with at most 4 MiB in total.\n\n' +
      'The server stores the first one after 3 seconds of changes, then one after every 30 seconds of changes, and one ' +
      'before each large removal or replacement. While a text is only replaced with `POST`, it stores at most one in 5 ' +
      'seconds, or in 30 seconds if the text is longer than 32,768 characters. In an encrypted room, only full texts and ' +
      'snapshots become checkpoints.',
    parameters: [...roomAccess, listLimit],
    successes: [{ status: 200, description: 'The checkpoints.', schema: schemas.historyList }],
    errors: anyRoom,
    counted: true,
  },
  readHistory: {
    method: 'GET',
    path: '/api/rooms/:roomId/history/:version',
    tag: 'Text',
    operation: 'useHistory',
    summary: 'Get an earlier text',
    description: 'Returns the text of a checkpoint.',
    parameters: [...roomAccess, checkpointVersion],
    successes: [{ status: 200, description: 'The text of that version.', schema: schemas.historyText }],
    errors: [...anyRoom, 'NOT_FOUND'],
    counted: true,
  },
  clearHistory: {
    method: 'DELETE',
    path: '/api/rooms/:roomId/history',
    tag: 'Text',
    operation: 'useHistory',
    summary: 'Delete the history',
    description:
      'Erases all checkpoints of the room and the log of its edits. The current text stays. In an encrypted room, sealed ' +
      'edits after `contentVersion` stay too, because they are part of the text.',
    parameters: roomAccess,
    body: { schema: schemas.pinOnlyRequest, required: false },
    successes: [confirms('The history was deleted.')],
    errors: [...anyRoom, ...anyBody, 'STORAGE_FULL'],
    counted: true,
  },
} as const satisfies Record<string, Endpoint>;
