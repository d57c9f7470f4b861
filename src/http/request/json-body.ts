/** Reads JSON bodies: bounded, in UTF-8, and of the shape that their schema says. */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { PoproomError } from '../../core/errors.ts';
import { isLarge } from '../../core/turns.ts';
import { type Endpoint, endpoints } from '../../protocol/endpoints.ts';
import { hasMoreValues, maxRequestValues } from '../../protocol/json-values.ts';
import { bodyTooLarge, collectBody, type ReceivedBody, unknownRoomBytes } from './body.ts';
import { announcedLength, hasBody, type Request, refuseCompressed } from './request.ts';
import { type Validator, validatorOf } from './validator.ts';

/** Bodies that hold no text need no more. */
export const smallBody = 16 * 1024;

/** A text may be sent all in `\u0000` escapes, six bytes for one. */
export const largestContentBody = (largestContent: number): number => 6 * largestContent + smallBody;

export interface BodyRules {
  maxBytes: number;
  /** Called before more than 64 KiB of a body are read; rejects where the rest is not wanted. */
  beforeLarge?: (request: Request) => Promise<unknown>;
}

/** No body at all reads as an empty object: what is required is then named as missing. */
export function readJson<T>(request: Request, schema: object, maxBytes: number): Promise<T> {
  return withJson(request, schema, { maxBytes }, async (value: T) => value);
}

/** Handles a body when it is its turn, which is immediately for small ones. */
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

/** Ahead of the first request, once the server already answers. */
export async function compileBodySchemas(): Promise<void> {
  for (const { body } of Object.values(endpoints) as Endpoint[]) {
    if (body && body !== 'file') await validatorOf(body.schema);
  }
}

/** The value has nothing of the body's bytes, which are released. */
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
  request.letBodyCome();
  const body = await collectBody(request, maxBytes, isChecked ? undefined : beforeLarge);
  // Some proxies pass on a request without a body as one with chunks of nothing, and no type.
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
  throw new PoproomError('UNSUPPORTED_MEDIA_TYPE', 'Send the body as JSON, with Content-Type: application/json.');
}

function parse(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw new PoproomError('INVALID_JSON', 'The body is not valid UTF-8.');
  const json = bytes.toString('utf8');
  if (hasMoreValues(json, maxRequestValues)) throw new PoproomError('INVALID_JSON', 'The body has too many values.');
  try {
    return JSON.parse(json);
  } catch {
    throw new PoproomError('INVALID_JSON', 'The body is not well-formed JSON.');
  }
}
