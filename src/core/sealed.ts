/** Refuses plaintext in encrypted rooms. */
import { type EnvelopeKind, envelopeSize, isEnvelope, maxPayloadBytes, maxRecentBytes } from '../protocol/sealed.ts';
import { PoproomError } from './errors.ts';

/** Checks a sealed text or edit. */
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
  return new PoproomError(code, `"${field}" exceeds the limit of ${maximum} characters.`, {
    details: { field, maximum },
  });
}

/** The longest sealed text or edit for texts of up to this many bytes. */
export const longestSealed = (largestContent: number): number => envelopeSize('text', largestContent + maxRecentBytes);

export function encryptionRequired(reason: string, field: string): PoproomError {
  return new PoproomError('ENCRYPTION_REQUIRED', `This room is encrypted. ${reason}`, { details: { field } });
}

/** For sealed data that only encrypted rooms accept. */
export function notEncrypted(field: string): PoproomError {
  return new PoproomError('VALIDATION_FAILED', `"${field}" is for encrypted rooms, and this room is not encrypted.`, {
    details: { field },
  });
}
