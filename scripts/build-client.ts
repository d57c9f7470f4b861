/** Builds the SDK for browsers and all other runtimes: dist/client/index.js, and files that it loads. */
import { build } from 'rolldown';
import { slimCodeMirror } from './build-slim-codemirror.ts';

export async function buildClient(root: string): Promise<void> {
  await build({
    cwd: root,
    input: 'src/client/index.ts',
    platform: 'neutral',
    plugins: [slimCodeMirror()],
    // The output is as readable as the source, so it needs no source map.
    output: {
      dir: 'dist/client',
      format: 'esm',
      entryFileNames: 'index.js',
      // `index.js` must not export what only the encryption needs, so both share a third file.
      chunkFileNames: ({ isDynamicEntry }) => (isDynamicEntry ? 'encryption.js' : 'base.js'),
    },
    logLevel: 'warn',
  });
}
