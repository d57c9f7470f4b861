/** Builds the page into dist/web, or serves it from source with the API of a locally running server. */
import { fileURLToPath } from 'node:url';
import { defineConfig, type HtmlTagDescriptor, type Plugin, type Rolldown } from 'vite';
import { chunkGroups, views } from '../scripts/build-page-chunks.ts';
import { slimCodeMirror } from '../scripts/build-slim-codemirror.ts';

const source = fileURLToPath(new URL('src/', import.meta.url));
const api = 'http://localhost:8080';

/**
 * Vite drops the attribute `blocking`. Without it, the browser would show an empty page until the script has run.
 * Comments are not for browsers. Pages have paths of any depth, so that the URLs of assets cannot be relative: the
 * server adds its base path.
 */
const finishHtml: Plugin = {
  name: 'finish-html',
  apply: 'build',
  transformIndexHtml: {
    order: 'post',
    handler: (html) =>
      html
        .replace('<script type="module"', '<script type="module" blocking="render"')
        .replace(/\s*<!--.*?-->/gs, '')
        .replaceAll('="./assets/', '="/assets/'),
  },
};

/** Vite's own helper takes 0.7 kB of every first view, mostly for cases that the page does not have. */
const shortPreload: Plugin = {
  name: 'short-preload',
  apply: 'build',
  enforce: 'pre',
  load: (id) =>
    id === '\0vite/preload-helper.js'
      ? `export { __vitePreload } from ${JSON.stringify(`${source}load-chunk.ts`)};`
      : undefined,
};

/** Loads the code of a view together with the page. The server keeps the links of the view that it sends. */
const viewLinks: Plugin = {
  name: 'view-links',
  apply: 'build',
  transformIndexHtml: {
    order: 'post',
    handler: (_, { bundle = {} }) =>
      Object.entries({ home: ['page'], room: ['page'], encrypted: ['page', 'room'] }).flatMap(([view, loaded]) =>
        linksOf(bundle, source + views[view as keyof typeof views], view, loaded),
      ),
  },
};

type Outputs = Record<string, Rolldown.OutputChunk | Rolldown.OutputAsset>;

/** `loaded`: the chunks that are loaded anyway. */
function linksOf(outputs: Outputs, entry: string, view: string, loaded: readonly string[]): HtmlTagDescriptor[] {
  const chunks = Object.values(outputs).filter((output) => output.type === 'chunk');
  const needed = new Set<Rolldown.OutputChunk>();
  const add = (chunk: Rolldown.OutputChunk | undefined) => {
    if (!chunk || loaded.includes(chunk.name) || needed.has(chunk)) return;
    needed.add(chunk);
    for (const imported of chunk.imports) add(chunks.find(({ fileName }) => fileName === imported));
  };
  add(chunks.find(({ moduleIds }) => moduleIds.includes(entry)));
  const styles = [...needed].flatMap(({ viteMetadata }) => [...(viteMetadata?.importedCss ?? [])]);
  const link = (rel: string) => (path: string) => ({
    tag: 'link',
    attrs: { rel, crossorigin: true, href: `/${path}`, 'data-view': view },
    injectTo: 'head' as const,
  });
  return [
    ...[...needed].map(({ fileName }) => fileName).map(link('modulepreload')),
    ...[...new Set(styles)].map(link('stylesheet')),
  ];
}

/** The server lets browsers cache files with such a name forever, so no other file may be named like this. */
const hashedName = 'assets/[name].[hash:12]';

export default defineConfig({
  // The same scripts work at the root of a host and under a path: they load each other by relative URLs.
  base: './',
  root: fileURLToPath(new URL('.', import.meta.url)),
  // Catalogs of strings are smaller as objects with unquoted keys than as text for JSON.parse.
  json: { namedExports: false, stringify: false },
  build: {
    outDir: '../dist/web',
    emptyOutDir: true,
    target: 'baseline-widely-available',
    // No data: URLs, so that the Content-Security-Policy does not have to allow them.
    assetsInlineLimit: 0,
    // Lists of chunks would be part of the first view. The page prefetches what it loads on demand.
    modulePreload: { polyfill: false, resolveDependencies: () => [] },
    license: { fileName: 'assets/licenses.md' },
    rolldownOptions: {
      output: {
        hashCharacters: 'hex',
        entryFileNames: `${hashedName}.js`,
        chunkFileNames: `${hashedName}.js`,
        assetFileNames: `${hashedName}[extname]`,
        codeSplitting: { groups: chunkGroups(source) },
      },
    },
  },
  worker: {
    format: 'es',
    rolldownOptions: {
      output: { hashCharacters: 'hex', entryFileNames: `${hashedName}.js`, chunkFileNames: `${hashedName}.js` },
    },
  },
  plugins: [slimCodeMirror(), shortPreload, finishHtml, viewLinks],
  server: { proxy: { '/api': { target: api, ws: true }, '/files': api, '/livez': api, '/docs': api } },
  appType: 'spa',
});
