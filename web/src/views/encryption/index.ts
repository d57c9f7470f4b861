/** The views of encrypted rooms. Loaded with the code of the encryption. */
export { EncryptionLock } from './encryption-lock.tsx';
export { EncryptionProblem, KeptDraft } from './encryption-problem.tsx';
export { KeepNewKey } from './keep-key.tsx';
export { KeyPrompt } from './key-prompt.tsx';
export { KeyAdvice, KeyInviteHint, RoomKey } from './room-key.tsx';
