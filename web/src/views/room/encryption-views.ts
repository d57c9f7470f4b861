/** The views of encrypted rooms, which are loaded on demand. */
import { lazy } from '../../components/lazy.tsx';

const load = () => import('../encryption/index.ts');

export const EncryptionLock = lazy(load, 'EncryptionLock');
export const EncryptionProblem = lazy(load, 'EncryptionProblem');
export const KeepNewKey = lazy(load, 'KeepNewKey');
export const KeptDraft = lazy(load, 'KeptDraft');
export const KeyAdvice = lazy(load, 'KeyAdvice');
export const KeyInviteHint = lazy(load, 'KeyInviteHint');
export const KeyPrompt = lazy(load, 'KeyPrompt');
export const RoomKey = lazy(load, 'RoomKey');
