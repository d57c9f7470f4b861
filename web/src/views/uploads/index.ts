/** The parts of uploads that load on demand; see ../room/add-files.ts. */

export { filesIn } from './dropped-folder.ts';
export { FailedUploads } from './failed-uploads.tsx';
export { areTooMany } from './file-count.ts';
export { UploadRow } from './upload-row.tsx';
