/** The views of encrypted rooms. Loaded with the code of the encryption. */
export { loadEncryptionStrings } from '../../i18n/encryption-strings.ts';
export { EncryptionLock } from './encryption-lock.tsx';
export { EncryptionProblem } from './encryption-problem.tsx';
export { KeyAttempts } from './key-attempts.tsx';
export { KeyPrompt } from './key-prompt.tsx';
export { RoomKey } from './room-key.tsx';
