/** Refuses plaintext in encrypted rooms: texts, names and files. */

import { type Readable, Transform } from 'node:stream';
import {
  type EnvelopeKind,
  encryptedFileHeader,
  envelopeSize,
  isEnvelope,
  maxPayloadBytes,
  maxRecentBytes,
} from '../protocol/sealed.ts';
import { invalidField, PoproomError } from './errors.ts';

export function checkSealed(text: string, kind: EnvelopeKind, field: string, longest: number): void {
  checkForm(text, kind, field);
  if (text.length > longest) throw tooLong('CONTENT_TOO_LARGE', field, longest);
}

/** Checks and returns the sealed name of a room or device, or the metadata of a file. */
export function checkSealedMeta(text: string | undefined, kind: keyof typeof maxPayloadBytes, field: string): string {
  const longest = envelopeSize(kind, maxPayloadBytes[kind]);
  checkForm(text, kind, field);
  if (text.length > longest) throw tooLong('VALIDATION_FAILED', field, longest);
  return text;
}

function checkForm(text: string | undefined, kind: EnvelopeKind, field: string): asserts text is string {
  if (text !== undefined && isEnvelope(text, kind)) return;
  throw encryptionRequired(`"${field}" must be sealed: "pop1." and base64url of a legal length.`, field);
}

function tooLong(code: 'CONTENT_TOO_LARGE' | 'VALIDATION_FAILED', field: string, maximum: number): PoproomError {
  const message = `"${field}" exceeds the limit of ${maximum} characters.`;
  return new PoproomError(code, message, { details: { field, maximum } });
}

/** The longest sealed text or edit for texts of up to this many bytes. */
export const longestSealed = (largestContent: number): number => envelopeSize('text', largestContent + maxRecentBytes);

export const encryptionRequired = (reason: string, field: string) =>
  new PoproomError('ENCRYPTION_REQUIRED', `This room is encrypted. ${reason}`, { details: { field } });

/** For sealed data that only encrypted rooms accept. */
export const notEncrypted = (field: string) =>
  invalidField(field, `"${field}" is for encrypted rooms, and this room is not encrypted.`);

const header = Buffer.from(encryptedFileHeader);
export const headerBytes = header.length;

/**
 * The bytes of an upload from an offset on. They are held back until the whole header has arrived, so that nothing of a
 * plain file is stored. A part of a resumable upload may end within the header.
 */
export function encryptedBytes(bytes: Readable, offset = 0, mayEndWithinHeader = false): Readable {
  const expected = header.subarray(offset);
  let held = Buffer.alloc(0);
  // Not the length of what was held: the blob store frees buffers that it has stored.
  let hasPassed = expected.length === 0;
  const matches = () => expected.subarray(0, held.length).equals(held.subarray(0, expected.length));
  const checked = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (hasPassed) return done(null, chunk);
      held = Buffer.concat([held, chunk]);
      if (!matches()) return done(notEncryptedFile());
      hasPassed = held.length >= expected.length;
      done(null, hasPassed ? held : undefined);
    },
    flush(done) {
      if (hasPassed) return done();
      done(mayEndWithinHeader ? null : notEncryptedFile(), held);
    },
  });
  const end = (error?: Error) => checked.destroy(error ?? new Error('The stream ended early.'));
  bytes.once('error', end).once('close', () => bytes.readableEnded || end());
  // It may fail before the blob store listens, which then finds it destroyed.
  return bytes.pipe(checked).on('error', () => undefined);
}

export const notEncryptedFile = () =>
  encryptionRequired('The file must be encrypted: its first bytes are "POPENC1" and a line feed.', 'file');
