/** Receives a form with one file, as a stream. The file is valid only if the whole form is well-formed. */
import type { EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { invalidField } from '../../core/errors.ts';
import type { FileSpace } from '../../core/files/files.ts';
import { bodyOf } from './request.ts';

interface FormFile {
  name: string;
  type: string;
  bytes: Readable;
  /** From fields before the file, if it has them. */
  pin?: string;
  folder?: string;
  once?: string;
  meta?: string;
  /** Settles when the form has ended. It rejects if the form is truncated or has a second file. */
  whole: Promise<void>;
}

/** A PIN and the headers of the part need far less. */
const maxBytesBeforeFile = 16 * 1024;
const limits = { parts: 10, fields: 6, fieldSize: 4096, fieldNameSize: 100, headerPairs: 20, headerSize: 16 * 1024 };

/** The maximum overhead of a form: boundaries, part headers and fields. */
export const formOverhead = 64 * 1024;

interface FormLimits {
  /** Aborts if the request does. */
  signal: AbortSignal;
  space: Pick<FileSpace, 'isTooLarge' | 'tooLarge'>;
}

/** Calls `receive` when the file part starts, and returns its result. */
export async function receiveForm<T>(
  raw: IncomingMessage,
  { signal, space }: FormLimits,
  receive: (file: FormFile) => Promise<T>,
): Promise<T> {
  const { promise: whole, resolve: end, reject: refuse } = Promise.withResolvers<void>();
  whole.catch(() => undefined);
  signal.addEventListener('abort', () => refuse(signal.reason));
  const { Busboy } = await import('@fastify/busboy');
  const headers = raw.headers as { 'content-type': string };
  if (!boundaryNamed.test(headers['content-type'])) throw noBoundary();
  const parser = openParser(() => new Busboy({ headers, limits, preservePath: true }));
  preferExtendedNames(parser);

  const values: Partial<Record<FieldName, string>> = {};
  let received: Promise<T> | undefined;
  let file: Readable | undefined;

  parser.on('field', (name: string, value: string, _nameCut: boolean, cut: boolean) => {
    if (name === 'file') refuse(malformed('The part "file" must be a file with a file name.'));
    else if (!isFieldName(name)) refuse(unknownField(name));
    else if (cut) refuse(malformed(`The field "${name}" is too long.`));
    else values[name] ??= value;
  });
  parser.on('file', (field: string, bytes: Readable, name: string | undefined, _encoding: string, type: string) => {
    bytes.on('error', () => refuse(incomplete()));
    if (field !== 'file') refuse(malformed(`The file must be in the part "file", not "${short(field)}".`));
    else if (name === '') refuse(noFile());
    else if (file) refuse(malformed('The form has more than one file. Send one file per request.'));
    else {
      file = bytes;
      received = receive({ name: name ?? '', type, bytes, ...values, whole });
      received.catch(refuse);
      return;
    }
    bytes.resume();
  });
  parser.on('partsLimit', () => refuse(malformed('The form has too many parts.')));
  parser.on('fieldsLimit', () => refuse(malformed('The form has too many fields.')));
  parser.on('error', () => refuse(incomplete()));
  parser.on('finish', () => end());
  // The parser keeps waiting for a part whose headers have no end, even after the last byte.
  const expectEnd = () => setImmediate(() => refuse(incomplete()));
  parser.once('prefinish', () => {
    if (!file || file.readableEnded) expectEnd();
    else file.once('end', expectEnd);
  });
  const body = bodyOf(raw);
  body.pipe(parser);
  // Registered after the parser, so that the parser has emitted the file if it starts in these bytes.
  let size = 0;
  const count = (bytes: Buffer) => {
    size += bytes.length;
    if (space.isTooLarge(size - formOverhead)) refuse(space.tooLarge());
    else if (!file && size > maxBytesBeforeFile) refuse(malformed('The form has too much data before its file.'));
  };
  body.on('data', count);

  try {
    await whole;
    if (!received) throw noFile();
    return await received;
  } finally {
    body.off('data', count).unpipe(parser);
    file?.destroy();
    // Everything that was started is undone before the error is sent.
    await received?.catch(() => undefined);
  }
}

type PartHeader = Record<string, string[] | undefined>;

/**
 * Of `filename` and `filename*`, the parser would use whichever comes last. It has no option for this, so the plain one
 * is removed before the parser reads the header of a part.
 */
function preferExtendedNames(parser: object): void {
  const parts = (parser as { _parser?: { parser?: EventEmitter } })._parser?.parser;
  parts?.prependListener('part', (part: EventEmitter) => {
    part.on('header', (header: PartHeader) => {
      const [disposition] = header['content-disposition'] ?? [];
      if (disposition !== undefined) header['content-disposition'] = [withoutPlainName(disposition)];
    });
  });
}

/** Parameters with their values, which may be in quotes. */
const parameters = /;\s*([^\s=;"]+)\s*=\s*(?:"(?:[^"\\]|\\.)*"|[^;"]*)/gs;

function withoutPlainName(disposition: string): string {
  const names = disposition.matchAll(parameters).map(([, name = '']) => name.toLowerCase());
  if (!names.some((name) => name === 'filename*')) return disposition;
  return disposition.replaceAll(parameters, (whole, name: string) => (name.toLowerCase() === 'filename' ? '' : whole));
}

const fieldNames = ['pin', 'folder', 'once', 'meta'] as const;
type FieldName = (typeof fieldNames)[number];
const isFieldName = (name: string): name is FieldName => (fieldNames as readonly string[]).includes(name);

const boundaryNamed = /;\s*boundary\s*=\s*"?[^\s";]/i;

function openParser<P>(make: () => P): P {
  try {
    return make();
  } catch {
    throw noBoundary();
  }
}

const malformed = (message: string) => invalidField('file', message);
const noBoundary = () => malformed('The Content-Type of the form has no boundary.');
const incomplete = () => malformed('The form is malformed or incomplete.');
/** Browsers send a part with an empty file name if no file was chosen. */
const noFile = () => malformed('The form has no file. Send it in the part "file".');
const unknownField = (name: string) =>
  malformed(`The form has an unknown field "${short(name)}". Use "pin", "folder", "once", "meta" and "file".`);

/** The client chose this name, so it may be long. */
const short = (name = '') => name.slice(0, 60);
