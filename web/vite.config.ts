/** Builds the page into dist/web, or serves it from source with the API of a locally running server. */
import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin } from 'vite';
import { slimCodeMirror } from '../scripts/build-slim-codemirror.ts';

const api = 'http://localhost:8080';

/** Vite drops the attribute. Without it, the browser would show an empty page until the script has run. */
const blockingScript: Plugin = {
  name: 'blocking-script',
  apply: 'build',
  transformIndexHtml: {
    order: 'post',
    handler: (html) => html.replace('<script type="module"', '<script type="module" blocking="render"'),
  },
};

/** The server lets browsers cache files with such a name forever, so no other file may be named like this. */
const hashedName = 'assets/[name].[hash:12]';

/** The room view and the text engine, without dialogs and other parts that are rarely opened. */
const roomModules =
  /@codemirror|\/node_modules\/diff\/|\/src\/(client\/)?text[./]|\/web\/src\/(room\/te|views\/room\/(?!dialogs|[\w-]+-dialog|announce-changes|dismissible-alert|pin-pad|room-pin|find-links))/;

/** Chunks to load together with a dynamic import. The chunk of the first view is there already. */
function preloadsOf(file: string, imports: readonly string[]): string[] {
  const others = imports.filter((path) => path !== file && !path.includes('/page.'));
  return others.length === 0 ? [] : [file, ...others];
}

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  build: {
    outDir: '../dist/web',
    emptyOutDir: true,
    target: 'baseline-widely-available',
    // No data: URLs, so that the Content-Security-Policy does not have to allow them.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false, resolveDependencies: (file, imports) => preloadsOf(file, imports) },
    license: { fileName: 'assets/licenses.md' },
    rolldownOptions: {
      output: {
        hashCharacters: 'hex',
        entryFileNames: `${hashedName}.js`,
        chunkFileNames: `${hashedName}.js`,
        assetFileNames: `${hashedName}[extname]`,
        // One chunk for the first view and one for a room: more chunks would compress less well.
        codeSplitting: {
          groups: [
            { name: 'page', tags: ['$initial'], priority: 1 },
            { name: 'room', test: roomModules },
          ],
        },
      },
    },
  },
  plugins: [slimCodeMirror(), blockingScript],
  server: { proxy: { '/api': { target: api, ws: true }, '/files': api, '/livez': api, '/docs': api } },
  appType: 'spa',
});
