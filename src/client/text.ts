/** Only the text engine of the SDK; see `light.ts`. */
export { createSharedText } from './text/create-shared-text.ts';
