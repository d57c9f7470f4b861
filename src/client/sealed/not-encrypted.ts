/** Errors for servers that answer with plaintext. */
import { EncryptionError } from '../error.ts';

/** Fails closed: nothing was sent, and nothing will be. */
export const notEncrypted = (): EncryptionError =>
  new EncryptionError(
    'NOT_ENCRYPTED',
    'You have a room key, but the server says that this room is not encrypted. Nothing was sent. Check the code and the server.',
  );
