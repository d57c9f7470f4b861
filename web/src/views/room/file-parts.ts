/** The parts of the file panel that an empty room does not need, loaded on demand as one script. */
import { lazy } from '../../components/lazy.tsx';

export const loadFileParts = () => import('../files/index.ts');

export const FailedUploads = lazy(loadFileParts, 'FailedUploads');
export const FileTools = lazy(loadFileParts, 'FileTools');
export const OneTimeRow = lazy(loadFileParts, 'OneTimeRow');
export const ReceiveDialog = lazy(loadFileParts, 'ReceiveDialog');
