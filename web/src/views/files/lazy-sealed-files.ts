/** The code for files of encrypted rooms, with its strings. */
import { lazy } from '../../components/lazy.tsx';

export async function loadSealedFiles() {
  const parts = await import('../sealed-files/index.ts');
  await parts.loadEncryptionStrings();
  return parts;
}

export const SealedDownloads = lazy(loadSealedFiles, 'SealedDownloads');
export const SealedMedia = lazy(loadSealedFiles, 'SealedMedia');
export const SealedThumbnail = lazy(loadSealedFiles, 'SealedThumbnail');
