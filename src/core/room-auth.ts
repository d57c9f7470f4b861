/** The proof that a client has the key of an encrypted room. The server knows only its hash, the verifier. */
import { createHash } from 'node:crypto';
import { auth } from '../protocol/fields.ts';
import { PoproomError } from './errors.ts';

const form = new RegExp(auth.pattern);

/** The SHA-256 of the key `auth`, to compare with the verifier. */
export function hashAuth(text: string): Uint8Array {
  if (form.test(text)) return createHash('sha256').update(Buffer.from(text, 'base64url')).digest();
  throw new PoproomError('VALIDATION_FAILED', 'X-Room-Auth must be 32 bytes in base64url.', {
    details: { field: 'X-Room-Auth' },
  });
}
