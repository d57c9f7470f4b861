/** The size limit of the text, which in an encrypted room only the clients can check. */
import type { TextDocument } from '../../text/document.ts';
import { PoproomError } from '../error.ts';

/** A code unit has at most three bytes, so only texts near the limit are measured. */
export function exceeds(document: TextDocument, maxBytes: number): boolean {
  if (document.length * 3 <= maxBytes) return false;
  return document.length > maxBytes || new TextEncoder().encode(document.toString()).length > maxBytes;
}

export function tooLarge(maxBytes: number): PoproomError {
  return new PoproomError('CONTENT_TOO_LARGE', `The text exceeds the limit of ${maxBytes} bytes of UTF-8.`, {
    details: { maximum: maxBytes },
  });
}
