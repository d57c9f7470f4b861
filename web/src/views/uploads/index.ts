/** The rows of uploads; see ../room/file-parts.tsx. */

export { FailedUploads } from './failed-uploads.tsx';
export { UploadRow } from './upload-row.tsx';
