/** The parts of the room that are loaded with the first file that needs them. */
import { lazy } from '../../components/lazy.tsx';

const load = () => import('../viewer/viewer.tsx');

export const Viewer = lazy(load, 'Viewer');
export const CopyFileImage = lazy(load, 'CopyFileImage');
