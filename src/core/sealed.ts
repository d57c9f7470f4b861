/** Refuses plaintext in encrypted rooms. */
import { type EnvelopeKind, envelopeSize, isEnvelope, maxPayloadBytes } from '../protocol/sealed.ts';
import { PoproomError } from './errors.ts';

/** Throws unless the text can be an envelope of this kind. */
export function checkSealed(text: string | undefined, kind: EnvelopeKind, field: string, longest: number): string {
  if (text === undefined || !isEnvelope(text, kind)) {
    throw encryptionRequired(`"${field}" must be sealed: "pop1." and base64url of a legal length.`, field);
  }
  if (text.length <= longest) return text;
  throw new PoproomError('CONTENT_TOO_LARGE', `"${field}" exceeds the limit of ${longest} characters.`, {
    details: { field, maximum: longest },
  });
}

/** A name of a room or device, or the metadata of a file. */
export const checkSealedMeta = (text: string | undefined, kind: keyof typeof maxPayloadBytes, field: string): string =>
  checkSealed(text, kind, field, envelopeSize(kind, maxPayloadBytes[kind]));

/** The longest sealed text or edit for texts of up to this many bytes. */
export const longestSealed = (largestContent: number): number => envelopeSize('text', largestContent);

export function encryptionRequired(reason: string, field: string): PoproomError {
  return new PoproomError('ENCRYPTION_REQUIRED', `This room is encrypted. ${reason}`, { details: { field } });
}

/** For sealed data that only encrypted rooms accept. */
export function notEncrypted(field: string): PoproomError {
  return new PoproomError('VALIDATION_FAILED', `"${field}" is for encrypted rooms, and this room is not encrypted.`, {
    details: { field },
  });
}
