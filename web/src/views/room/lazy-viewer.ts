/** The parts of the room that are loaded with the first file that needs them. */
import { lazy } from '../../components/lazy.tsx';
import type { CopiedFile, ViewerProps } from '../viewer/viewer.tsx';

const load = () => import('../viewer/viewer.tsx');

export const Viewer = lazy<'Viewer', ViewerProps>(load, 'Viewer');
export const CopyFileImage = lazy<'CopyFileImage', CopiedFile>(load, 'CopyFileImage');
