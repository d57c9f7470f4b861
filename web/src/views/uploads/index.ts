/** What uploads need in the page; see ../room/add-files.ts. */

export { filesIn } from './dropped-folder.ts';
export { FailedUploads } from './failed-uploads.tsx';
export { areTooMany } from './file-count.ts';
export { UploadRow } from './upload-row.tsx';
