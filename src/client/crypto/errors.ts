/** The errors of encryption. */
import { EncryptionError } from '../error.ts';

export { EncryptionError, type EncryptionErrorCode } from '../error.ts';

/** `what` starts the message, for example "The text". */
export function damaged(what: string): EncryptionError {
  return new EncryptionError(
    'DATA_DAMAGED',
    `${what} cannot be decrypted. It was changed, or sealed with another key.`,
  );
}
