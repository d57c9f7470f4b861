/** The file list, which an empty room does not need; see ../room/file-panel.tsx. */

export { FileList } from './file-list.tsx';
