/**
 * Leaves `room.text()` out of the page. The SDK's room handle has it, and with it the whole text engine, which would
 * then be part of the first view. The page joins by `room.live({ text })` and loads the engine while it enters a room.
 */
import type { Plugin } from 'vite';

const replaced = /\/text\/live-text\.ts$/;
const stub = '\0no-live-text';

export function withoutLiveText(): Plugin {
  let isReplaced = false;
  return {
    name: 'without-live-text',
    enforce: 'pre',
    apply: 'build',
    resolveId(source, importer) {
      if (!replaced.test(source) || !importer?.endsWith('/src/client/room.ts')) return null;
      isReplaced = true;
      return stub;
    },
    load: (id) =>
      id === stub ? `export function createRoomText() { throw new Error('Use room.live({ text }).'); }` : null,
    buildEnd() {
      if (!isReplaced)
        this.error('src/client/room.ts does not import text/live-text.ts any more: see web/without-live-text.ts.');
    },
  };
}
