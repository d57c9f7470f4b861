/** Checks names, and refuses plaintext in encrypted rooms: texts, names and files. */

import { type Readable, Transform } from 'node:stream';
import { cleanFolder as clean, folderLimits, removeUnsafeCharacters } from '../protocol/file-name.ts';
import { maxNameLength } from '../protocol/limits.ts';
import {
  type EnvelopeKind,
  encryptedFileHeader,
  envelopePrefix,
  envelopeSize,
  isEnvelope,
  maxPayloadBytes,
  maxRecentBytes,
} from '../protocol/sealed.ts';
import { invalidField, PoproomError } from './errors.ts';
import type { Room } from './ports/basics.ts';

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

export function cleanFolder(raw: string): string {
  const folder = clean(raw);
  if (folder !== undefined) return folder;
  const { levels, bytes } = folderLimits;
  throw invalidField('folder', `The folder of a file may have at most ${levels} levels and ${bytes} bytes.`);
}

/** The name of an encrypted room is sealed, and cannot be cleaned. */
export const looksSealed = (name: string | null | undefined): name is string =>
  name?.startsWith(envelopePrefix) ?? false;

/** Cleans a name like that of a file. Undefined if nothing is left, or there is none. */
export function cleanRoomName(raw: string | null | undefined, maximum: number = maxNameLength.room) {
  const name = removeUnsafeCharacters(raw ?? '');
  if ([...name].length <= maximum) return name || undefined;
  throw invalidField('name', `"name" may have at most ${maximum} characters.`, { maximum });
}

/** Sealed names are longer. */
export const maxDeviceNameLength = envelopeSize('device', maxPayloadBytes.device);

/** The display name of a device is sealed in an encrypted room. */
export function checkDeviceName({ salt }: Pick<Room, 'salt'>, name: string | undefined): void {
  if (name === undefined) return;
  if (salt !== undefined) checkSealedMeta(name, 'device', 'deviceName');
  else if ([...name].length > maxNameLength.device) throw deviceNameTooLong();
}

export const deviceNameTooLong = (): PoproomError =>
  invalidField('deviceName', `The device name is limited to ${maxNameLength.device} characters.`);
