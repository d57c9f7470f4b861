/** The page: built into dist/web, or served from source with the API of a server that runs beside it. */
import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin } from 'vite';
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
        // All of the first view in one piece: cut up for what is loaded later, it would compress less well.
        codeSplitting: { groups: [{ name: 'page', tags: ['$initial'] }] },
      },
    },
  },
  plugins: [oneLanguage, blockingScript],
  server: { proxy: { '/api': { target: api, ws: true }, '/files': api, '/livez': api, '/docs': api } },
  appType: 'spa',
});
