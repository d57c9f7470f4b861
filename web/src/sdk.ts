/** The SDK without its text engine, which is not part of the first view: a room loads it, see room/text-model.ts. */

// biome-ignore lint/style/noRestrictedImports: client/index.ts would bring the engine with it
export { createClient } from '../../src/client/client.ts';
// biome-ignore lint/style/noRestrictedImports: see above
export { PoproomError } from '../../src/client/error.ts';
