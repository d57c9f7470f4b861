/** The views of encrypted rooms, with their strings. They are loaded on demand. */
import { lazy } from '../../components/lazy.tsx';

async function load() {
  const views = await import('../encryption/index.ts');
  await views.loadEncryptionStrings();
  return views;
}

export const EncryptionLock = lazy(load, 'EncryptionLock');
export const EncryptionProblem = lazy(load, 'EncryptionProblem');
export const KeepNewKey = lazy(load, 'KeepNewKey');
export const KeptDraft = lazy(load, 'KeptDraft');
export const KeyAdvice = lazy(load, 'KeyAdvice');
export const KeyInviteHint = lazy(load, 'KeyInviteHint');
export const KeyPrompt = lazy(load, 'KeyPrompt');
export const RoomKey = lazy(load, 'RoomKey');
