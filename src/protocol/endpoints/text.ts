/** Endpoints of the text and its history. */

import * as schemas from '../schemas.ts';
import {
  anyBody,
  anyKeyed,
  anyRoom,
  anySealedWrite,
  checkpointVersion,
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
      'responds. Each write creates the next version. The response has it in `version` and `ETag`. A body of type ' +
      '`text/plain`, or of the default type of `curl -d`, is the text itself, in UTF-8. The PIN is then in a header or the query. In an encrypted room, the text is sealed ' +
      'and `If-Match` is required.',
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
      'text. Any other `Accept` returns JSON. In an encrypted room, `content` is the sealed text of `contentVersion`, and ' +
      '`sealedEdits` lead from it to `version`. With `wait` and `If-None-Match`, the response comes when the text changes ' +
      'or the time is over. The request counts once, and as a live channel while it waits.',
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
      'Changes parts of the text, or appends to it, without sending the whole text. `edits` replace ranges of the version ' +
      '`baseVersion`, in UTF-16 code units. If the text has changed since, the server rebases them and nothing is lost. ' +
      'Send either `edits` or `append`. A body of type `text/plain`, or of the default type of `curl -d`, is appended as it ' +
      'is; the PIN is then in a header or the query. In an encrypted room, send `sealed` and `baseVersion`: the server stores a sealed ' +
      'edit only on the current version, and otherwise returns `EDIT_CONFLICT` with the newer ones.',
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
      'The text and its version stay the same. Send this when a response contains `compact`. Repeating it is harmless.',
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
      'Lists checkpoints of the text, newest first: the first after 3 seconds of changes, then one after every 30 seconds of changes, and one before each large removal or ' +
      'replacement, but not more than one in 5 seconds for a text that is only replaced with `POST` (30 seconds if it is longer than 32,768 characters). A room keeps at most 50 checkpoints, with at most 4 MiB in total. To restore one, write it as the new text. In an encrypted room, only full texts and snapshots become checkpoints.',
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
    successes: [
      {
        status: 200,
        description: 'The history was deleted.',
        schema: schemas.confirmation,
        example: { success: true, message: 'The history was deleted.' },
      },
    ],
    errors: [...anyRoom, ...anyBody, 'STORAGE_FULL'],
    counted: true,
  },
} as const satisfies Record<string, Endpoint>;
