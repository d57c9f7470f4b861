/** The parts of the room that are loaded with the first file that needs them. */
import { lazy } from '../../components/lazy.tsx';

export const loadViewer = () => import('../viewer/viewer.tsx');

export const Viewer = lazy(loadViewer, 'Viewer');
export const CopyFileImage = lazy(loadViewer, 'CopyFileImage');
