/** The code for files of encrypted rooms. */
import { lazy } from '../../components/lazy.tsx';

export const loadSealedFiles = () => import('../sealed-files/index.ts');

export const SealedDownloads = lazy(loadSealedFiles, 'SealedDownloads');
export const SealedMedia = lazy(loadSealedFiles, 'SealedMedia');
export const SealedThumbnail = lazy(loadSealedFiles, 'SealedThumbnail');
