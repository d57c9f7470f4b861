/** The errors of encryption. */
import { EncryptionError } from '../error.ts';

export { EncryptionError, type EncryptionErrorCode } from '../error.ts';

/** Encrypting it again with the same salt would reveal the difference. A stream may also have another size than announced. */
export const fileChanged = (): EncryptionError =>
  new EncryptionError(
    'FILE_CHANGED',
    'The file has changed since its upload started, or its size is not the given one. Upload it again.',
  );

/** `what` starts the message, for example "The text". */
export function damaged(what: string): EncryptionError {
  return new EncryptionError(
    'DATA_DAMAGED',
    `${what} cannot be decrypted. It was changed, or sealed with another key.`,
  );
}
