/** Files of encrypted rooms: they are decrypted in the page, to show or save them. Loaded with the first of them. */

export { saveFiles } from './downloads.ts';
export { SealedDownloads } from './sealed-downloads.tsx';
export { SealedMedia } from './sealed-media.tsx';
export { SealedThumbnail } from './sealed-thumbnail.tsx';
