/** The page: built into dist/web, or served from source with the API of a server that runs beside it. */
import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin } from 'vite';
import { slimCodeMirror } from '../scripts/build-slim-codemirror.ts';
import { oneLanguage } from './one-language.ts';

const api = 'http://localhost:8080';

/** Vite drops the attribute, and the page would show its empty body until the script has run. */
const blockingScript: Plugin = {
  name: 'blocking-script',
  apply: 'build',
  transformIndexHtml: {
    order: 'post',
    handler: (html) => html.replace('<script type="module"', '<script type="module" blocking="render"'),
  },
};

/** The server lets browsers keep what is named like this for ever, so no name given by hand may look like it. */
const hashedName = 'assets/[name].[hash:12]';

/** The view inside a room and the text engine, without the dialogs and whatever else few people open. */
const partOfRoom =
  /@codemirror|\/node_modules\/diff\/|\/src\/(client\/)?text[./]|\/web\/src\/(room\/te|views\/room\/(?!\w+-dialog|pin-pad|find-links))/;

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  build: {
    outDir: '../dist/web',
    emptyOutDir: true,
    target: 'baseline-widely-available',
    // No data: addresses, so that the Content-Security-Policy need not allow them.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    license: { fileName: 'assets/licenses.md' },
    rolldownOptions: {
      output: {
        hashCharacters: 'hex',
        entryFileNames: `${hashedName}.js`,
        chunkFileNames: `${hashedName}.js`,
        assetFileNames: `${hashedName}[extname]`,
        // The first view in one piece, and what a room needs in another: cut up further they would compress less well.
        codeSplitting: {
          groups: [
            { name: 'page', tags: ['$initial'], priority: 1 },
            { name: 'room', test: partOfRoom },
          ],
        },
      },
    },
  },
  plugins: [slimCodeMirror(), oneLanguage, blockingScript],
  server: { proxy: { '/api': { target: api, ws: true }, '/files': api, '/livez': api, '/docs': api } },
  appType: 'spa',
});
