/** Receives a form with one file, as a stream. The file counts only once the whole form was well-formed. */
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { PoproomError } from '../../core/errors.ts';
import { fileTooLarge } from '../../core/files.ts';
import { onAborted } from './aborted.ts';
import { bodyOf } from './request.ts';

export interface FormFile {
  name: string;
  type: string;
  bytes: Readable;
  /** The PIN, where a field before the file had it. */
  pin: string | undefined;
  /** Settles when the form has ended: it may still turn out to be cut off, or to hold a second file. */
  whole: Promise<void>;
}

/** A PIN and the part's headers need far less. */
const mostBeforeFile = 16 * 1024;
const limits = { parts: 10, fields: 5, fieldSize: 1024, fieldNameSize: 100, headerPairs: 20, headerSize: 16 * 1024 };

/** Hands the file on when its part begins, and answers what became of it. The whole form has at most `maxBytes`. */
export async function receiveForm<T>(
  raw: IncomingMessage,
  maxBytes: number,
  receive: (file: FormFile) => Promise<T>,
): Promise<T> {
  const { promise: whole, resolve: end, reject: refuse } = Promise.withResolvers<void>();
  whole.catch(() => undefined);
  onAborted(raw, refuse);
  const { Busboy } = await import('@fastify/busboy');
  const headers = raw.headers as { 'content-type': string };
  if (!boundaryNamed.test(headers['content-type'])) throw noBoundary();
  const parser = openParser(() => new Busboy({ headers, limits, preservePath: true }));

  let pin: string | undefined;
  let received: Promise<T> | undefined;
  let file: Readable | undefined;

  parser.on('field', (name: string, value: string, _nameCut: boolean, cut: boolean) => {
    if (name === 'file') refuse(malformed('The part "file" must be a file: it has no file name.'));
    else if (name !== 'pin') refuse(malformed(`The form may have the fields "pin" and "file", not "${short(name)}".`));
    else if (cut) refuse(malformed('The field "pin" is too long.'));
    else pin ??= value;
  });
  parser.on('file', (field: string, bytes: Readable, name: string | undefined, _encoding: string, type: string) => {
    bytes.on('error', () => refuse(malformed('The form is malformed or cut off.')));
    if (field !== 'file') refuse(malformed(`The file must be in the part "file", not "${short(field)}".`));
    else if (name === '') refuse(noFile());
    else if (file) refuse(malformed('The form must have one file, not several.'));
    else {
      file = bytes;
      received = receive({ name: name ?? '', type, bytes, pin, whole });
      received.catch(refuse);
      return;
    }
    bytes.resume();
  });
  parser.on('partsLimit', () => refuse(malformed('The form has too many parts.')));
  parser.on('fieldsLimit', () => refuse(malformed('The form has too many fields.')));
  parser.on('error', () => refuse(malformed('The form is malformed or cut off.')));
  parser.on('finish', () => end());
  // A part whose headers never end is one that the parser goes on waiting for, though it has had all there is.
  const expectEnd = () => setImmediate(() => refuse(malformed('The form is malformed or cut off.')));
  parser.once('prefinish', () => {
    if (!file || file.readableEnded) expectEnd();
    else file.once('end', expectEnd);
  });
  const body = bodyOf(raw);
  body.pipe(parser);
  // After the parser, which has then met the file if these bytes hold its beginning.
  let size = 0;
  const count = (bytes: Buffer) => {
    size += bytes.length;
    if (size > maxBytes) refuse(fileTooLarge());
    else if (!file && size > mostBeforeFile) refuse(malformed('The form has too much before its file.'));
  };
  body.on('data', count);

  try {
    await whole;
    if (!received) throw noFile();
    return await received;
  } finally {
    body.off('data', count).unpipe(parser);
    file?.destroy();
    // Whatever was begun is undone before the refusal is sent.
    await received?.catch(() => undefined);
  }
}

const boundaryNamed = /;\s*boundary\s*=\s*"?[^\s";]/i;

function openParser<P>(make: () => P): P {
  try {
    return make();
  } catch {
    throw noBoundary();
  }
}

function noBoundary(): PoproomError {
  return malformed('The form has no boundary in its Content-Type.');
}

/** Browsers send a part with an empty file name where no file was chosen. */
function noFile(): PoproomError {
  return malformed('The form has no part "file" with a file in it.');
}

function malformed(message: string): PoproomError {
  return new PoproomError('VALIDATION_FAILED', message, { details: { field: 'file' } });
}

/** A name that a stranger chose. */
const short = (name = '') => name.slice(0, 60);
