/** Reads JSON bodies: bounded, in UTF-8, and of the shape that their schema says. */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { PoproomError } from '../core/errors.ts';
import { onCutOff } from './cut-off.ts';
import { GrowingBytes } from './growing-bytes.ts';
import { announcedLength, hasBody, type Request, refuseCompressed } from './request.ts';
import { validatorOf } from './validator.ts';

/** Bodies that hold no text need no more. */
export const smallBody = 16 * 1024;

/** A text may be sent all in `\u0000` escapes, six bytes for one. */
export const largestContentBody = (largestContent: number): number => 6 * largestContent + smallBody;

/** No body at all reads as an empty object: what is required is then named as missing. */
export async function readJson<T>(request: Request, schema: object, maxBytes: number): Promise<T> {
  const text = hasBody(request.raw) ? await readText(request, maxBytes) : '';
  const value = text === '' ? {} : parse(text);
  const validator = validatorOf(schema);
  const validate = validator instanceof Promise ? await validator : validator;
  const problem = validate(value);
  if (problem) throw problem;
  return value as T;
}

async function readText(request: Request, maxBytes: number): Promise<string> {
  const { raw } = request;
  refuseCompressed(raw);
  const announced = announcedLength(raw);
  if (announced !== undefined) refuseUnlessJson(raw);
  if ((announced ?? 0) > maxBytes) throw bodyTooLarge(maxBytes);
  request.letBodyCome();
  const bytes = await collect(raw, maxBytes);
  // Some proxies pass on a request without a body as one with chunks of nothing, and no type.
  if (bytes.length === 0) return '';
  refuseUnlessJson(raw);
  if (!isUtf8(bytes)) throw new PoproomError('INVALID_JSON', 'The body is not valid UTF-8.');
  return bytes.toString('utf8');
}

function collect(raw: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const bytes = new GrowingBytes(maxBytes);
    let size = 0;
    raw.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxBytes) return bytes.add(chunk);
      raw.removeAllListeners('data');
      reject(bodyTooLarge(maxBytes));
    });
    raw.on('end', () => resolve(bytes.whole()));
    onCutOff(raw, reject);
  });
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

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new PoproomError('INVALID_JSON', 'The body is not well-formed JSON.');
  }
}

function bodyTooLarge(maxBytes: number): PoproomError {
  return new PoproomError('CONTENT_TOO_LARGE', `The body is over the ${maxBytes} bytes that this request may have.`);
}
