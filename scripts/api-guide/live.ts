/** The messages and close codes of the live channel in the API guide. */

import { clientMessages, serverMessages } from '../../src/protocol/live.ts';
import { closeCodes } from '../../src/protocol/live-protocol.ts';
import { jsonFence, paragraphs, table } from '../markdown.ts';
import { exampleOf } from '../openapi/schemas.ts';
import { type BodySchema, fieldTable, messageFields } from './fields.ts';

export function liveChapters(): string[] {
  return [
    introduction,
    ...messages('Send', clientMessages),
    ...messages('Receive', serverMessages),
    closeCodeChapter(),
  ];
}

/** Also part of docs/live.md. */
export function closeCodeTable(): string {
  const rows = Object.entries(closeCodes).map(([code, meaning]) => [code, meaning]);
  return table(['close code', 'meaning'], rows);
}

const introduction = `## Live messages

Both live endpoints send the same messages, as JSON with a \`type\`. On the WebSocket you also send messages, starting \
with \`join\`. With server-sent events, \`event\` is the type and \`id\` is the \`seq\`; \`written\`, \`conflict\` and \
\`error\` do not occur. Ignore types and fields that you do not know.

Every change in a room increments \`seq\`. Send the last one that you received when you reconnect. You then get a \
\`snapshot\` only if you missed something. [The live channel](live.md) explains editing and reconnecting, and \
\`/api/asyncapi.json\` describes the messages for programs.`;

interface Message extends BodySchema {
  description: string;
}

function messages(direction: 'Send' | 'Receive', schemas: Record<string, Message>): string[] {
  return Object.entries(schemas).map(([type, schema]) => {
    const fields = messageFields(schema);
    return paragraphs([
      `### ${direction} \`${type}\``,
      schema.description,
      fields.length > 0 ? fieldTable(['field', 'presence', 'description'], fields) : undefined,
      jsonFence(exampleOf(schema as object)),
    ]);
  });
}

function closeCodeChapter(): string {
  return paragraphs([
    '## Close codes',
    'The server closes a WebSocket with one of these codes. The reason is a sentence for people.',
    closeCodeTable(),
  ]);
}
