/** The text engine of the SDK by itself: see `light.ts`. */
export { createSharedText } from './text/create-shared-text.ts';
