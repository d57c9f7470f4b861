/** Reads JSON bodies: limited in size, in UTF-8, and valid against their schema. */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { PoproomError } from '../../core/errors.ts';
import { isLarge } from '../../core/turns.ts';
import { type Endpoint, endpoints } from '../../protocol/endpoints.ts';
import { hasMoreValues, maxRequestValues } from '../../protocol/json-values.ts';
import { bodyTooLarge, collectBody, type ReceivedBody, unknownRoomBytes } from './body.ts';
import { announcedLength, hasBody, type Request, refuseCompressed } from './request.ts';
import { type Validator, validatorOf } from './validator.ts';

/** The limit for bodies without a room's text. */
export const smallBody = 16 * 1024;

/** A text may consist of `\u0000` escapes, with six bytes for each character. */
export const largestContentBody = (largestContent: number): number => 6 * largestContent + smallBody;

export interface BodyRules {
  maxBytes: number;
  /** Called before more than 64 KiB of a body are read. Rejects if the rest is not needed. */
  beforeLarge?: (request: Request) => Promise<unknown>;
}

/** A missing body is read as an empty object, so that the error names the missing fields. */
export function readJson<T>(request: Request, schema: object, maxBytes: number): Promise<T> {
  return withJson(request, schema, { maxBytes }, async (value: T) => value);
}

/** Handles a body when its turn comes. Small bodies are handled immediately. */
export async function withJson<T, R>(
  request: Request,
  schema: object,
  rules: BodyRules,
  handle: (value: T) => Promise<R>,
): Promise<R> {
  const body = await readBody(request, rules);
  const validating = validatorOf(schema);
  const validate = validating instanceof Promise ? await validating : validating;
  const { length } = body.bytes;
  if (!isLarge(length)) return handle(parsed<T>(body, validate));
  return request.turns.run(request.client, length, async () => handle(parsed<T>(body, validate)));
}

/** Runs after the start, so that the first request does not wait for it. */
export async function compileBodySchemas(): Promise<void> {
  for (const { body } of Object.values(endpoints) as Endpoint[]) {
    if (typeof body === 'object') await validatorOf(body.schema);
  }
}

/** The value does not reference the bytes of the body, so they are released. */
function parsed<T>(body: ReceivedBody, validate: Validator): T {
  try {
    const value = body.bytes.length === 0 ? {} : parse(body.bytes);
    const problem = validate(value);
    if (problem) throw problem;
    return value as T;
  } finally {
    body.release();
  }
}

const noBody: ReceivedBody = { bytes: Buffer.alloc(0), release: () => undefined };

async function readBody(request: Request, { maxBytes, beforeLarge }: BodyRules): Promise<ReceivedBody> {
  const { raw } = request;
  if (!hasBody(raw)) return noBody;
  refuseCompressed(raw);
  const announced = announcedLength(raw);
  if (announced !== undefined) refuseUnlessJson(raw);
  if ((announced ?? 0) > maxBytes) throw bodyTooLarge(maxBytes);
  const isChecked = (announced ?? 0) > unknownRoomBytes;
  if (isChecked) await beforeLarge?.(request);
  request.sendContinue();
  const body = await collectBody(request, maxBytes, isChecked ? undefined : beforeLarge);
  // Some proxies forward a request without a body as an empty chunked one, without a type.
  if (body.bytes.length > 0) refuseUnlessJson(raw);
  return body;
}

function refuseUnlessJson(raw: IncomingMessage): void {
  const { 'content-type': given = '' } = raw.headers;
  if (given === 'application/json') return;
  const [type = '', ...parameters] = given.toLowerCase().split(';');
  const charset = parameters
    .map((parameter) => /^\s*charset\s*=\s*"?([^"\s]*)"?\s*$/.exec(parameter)?.[1])
    .find(Boolean);
  if (type.trim() === 'application/json' && (charset === undefined || /^utf-?8$/.test(charset))) return;
  throw new PoproomError('UNSUPPORTED_MEDIA_TYPE', 'Send the body as JSON with Content-Type: application/json.');
}

function parse(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw new PoproomError('INVALID_JSON', 'The body is not valid UTF-8.');
  const json = bytes.toString('utf8');
  if (hasMoreValues(json, maxRequestValues))
    throw new PoproomError('INVALID_JSON', 'The body contains too many JSON values.');
  try {
    return JSON.parse(json);
  } catch {
    throw new PoproomError('INVALID_JSON', 'The body is not well-formed JSON.');
  }
}
