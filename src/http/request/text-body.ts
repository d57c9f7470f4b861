/** Reads bodies that are a text as it is, such as those of `curl -d`. */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { PoproomError } from '../../core/errors.ts';
import { type BodyRules, type ReceivedBody, readBody } from './body.ts';
import { mediaTypeOf, type Request } from './request.ts';

/** The second one is the default of `curl -d`. Nobody else sends a text in it. */
const textTypes: ReadonlySet<string> = new Set(['text/plain', 'application/x-www-form-urlencoded']);

export function isTextBody(raw: IncomingMessage): boolean {
  return raw.headers['content-type'] !== 'application/json' && textTypes.has(mediaTypeOf(raw).type);
}

/** Handles a text when its turn comes. Small ones are handled immediately, unless the client causes much work. */
export async function withText<R>(
  request: Request,
  rules: BodyRules,
  handle: (text: string) => Promise<R>,
): Promise<R> {
  const { client, turns } = request;
  await turns.budget.admit(client);
  const body = await readBody(request, rules, refuseUnlessUtf8);
  return turns.run(client, body.bytes.length, async () => handle(turns.budget.measure(client, () => decoded(body))));
}

function refuseUnlessUtf8(raw: IncomingMessage): void {
  if (mediaTypeOf(raw).isUtf8Text) return;
  throw new PoproomError('UNSUPPORTED_MEDIA_TYPE', 'Send the text in UTF-8.');
}

function decoded(body: ReceivedBody): string {
  try {
    if (isUtf8(body.bytes)) return body.bytes.toString('utf8');
    throw new PoproomError('VALIDATION_FAILED', 'The text is not valid UTF-8.', { details: { field: 'content' } });
  } finally {
    body.release();
  }
}
