/** The errors of encryption. */

/**
 * - `KEY_MALFORMED`: a string that cannot be a room key.
 * - `KEY_MISTYPED`: a room key whose check symbol is wrong.
 * - `KEY_WRONG`: a room key that is valid but belongs to another room.
 * - `DATA_DAMAGED`: the data was changed, cut or moved, or was sealed with another key.
 * - `ROLLBACK`: the server sent an older version than this device has seen.
 * - `FORK`: the server sent a version that does not continue the one this device has seen.
 */
export type EncryptionErrorCode = 'KEY_MALFORMED' | 'KEY_MISTYPED' | 'KEY_WRONG' | 'DATA_DAMAGED' | 'ROLLBACK' | 'FORK';

/** `code` is for programs, `message` for people. Neither contains a key or decrypted data. */
export class EncryptionError extends Error {
  readonly code: EncryptionErrorCode;

  constructor(code: EncryptionErrorCode, message: string) {
    super(message);
    this.name = 'EncryptionError';
    this.code = code;
  }
}

/** `what` starts the message, for example "The text". */
export function damaged(what: string): EncryptionError {
  return new EncryptionError(
    'DATA_DAMAGED',
    `${what} cannot be decrypted. It was changed, or sealed with another key.`,
  );
}
