/** Reads JSON bodies: limited in size, in UTF-8, and valid against their schema. */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { stepsFor } from '../../core/defence/turns.ts';
import { PoproomError } from '../../core/errors.ts';
import { type Endpoint, endpoints } from '../../protocol/endpoints.ts';
import { hasMoreValues, maxRequestValues } from '../../protocol/json-values.ts';
import { type BodyRules, type ReceivedBody, readBody } from './body.ts';
import { mediaTypeOf, type Request } from './request.ts';
import { type Validator, validatorOf } from './validator.ts';

/** The limit for bodies without a room's text. */
export const smallBody = 16 * 1024;

/** A text may consist of `\u0000` escapes, with six bytes for each character. */
export const largestContentBody = (largestContent: number): number => 6 * largestContent + smallBody;

/** A missing body is read as an empty object, so that the error names the missing fields. */
export function readJson<T>(request: Request, schema: object, maxBytes: number): Promise<T> {
  return withJson(request, schema, { maxBytes }, async (value: T) => value);
}

/** Handles a body when its turn comes. Small bodies are handled immediately, unless the client causes much work. */
export async function withJson<T, R>(
  request: Request,
  schema: object,
  rules: BodyRules,
  handle: (value: T) => Promise<R>,
): Promise<R> {
  const { client, turns } = request;
  await turns.budget.admit(client);
  const body = await readBody(request, rules, refuseUnlessJson);
  const validating = validatorOf(schema);
  const validate = validating instanceof Promise ? await validating : validating;
  return turns.run(client, body.bytes.length, async () => handle(await parsed<T>(request, body, validate)));
}

/** Runs after the start, so that the first request does not wait for it. */
export async function compileBodySchemas(): Promise<void> {
  for (const { body } of Object.values(endpoints) as Endpoint[]) {
    if (typeof body === 'object') await validatorOf(body.schema);
  }
}

/** The value does not reference the bytes of the body, so they are released. */
async function parsed<T>({ client, turns }: Request, body: ReceivedBody, validate: Validator): Promise<T> {
  const { bytes } = body;
  try {
    const betweenSteps = stepsFor(bytes.length);
    const json = turns.budget.measure(client, () => decoded(bytes));
    await betweenSteps();
    const value = turns.budget.measure(client, () => validated<T>(parse(json), validate));
    await betweenSteps();
    return value;
  } finally {
    body.release();
  }
}

function validated<T>(value: unknown, validate: Validator): T {
  const problem = validate(value);
  if (problem) throw problem;
  return value as T;
}

function refuseUnlessJson(raw: IncomingMessage): void {
  if (raw.headers['content-type'] === 'application/json') return;
  const { type, isUtf8Text } = mediaTypeOf(raw);
  if (type === 'application/json' && isUtf8Text) return;
  throw new PoproomError('UNSUPPORTED_MEDIA_TYPE', 'Send the body as JSON with Content-Type: application/json.');
}

function decoded(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new PoproomError('INVALID_JSON', 'The body is not valid UTF-8.');
  if (hasMoreValues(bytes, maxRequestValues))
    throw new PoproomError('INVALID_JSON', 'The body contains too many JSON values.');
  return bytes.toString('utf8');
}

function parse(json: string): unknown {
  if (json === '') return {};
  try {
    // Clients that are generated for Go send `null` instead of an optional body.
    return JSON.parse(json) ?? {};
  } catch {
    throw new PoproomError('INVALID_JSON', 'The body is not well-formed JSON.');
  }
}
