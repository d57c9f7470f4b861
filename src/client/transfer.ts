/** Only the file transfers of the SDK; see `light-room.ts`. */

export { receive } from './receive.ts';
export { upload } from './upload.ts';
