/** Builds the SDK for browsers and all other runtimes: index.js, and encryption.js, which it loads on demand. */
import { build } from 'rolldown';
import { slimCodeMirror } from './build-slim-codemirror.ts';

/** Returns the paths of the modules in the output. */
export async function buildClient(root: string, dir = 'dist/client'): Promise<string[]> {
  const { output } = await build({
    cwd: root,
    input: 'src/client/index.ts',
    platform: 'neutral',
    // The encryption imports from index.js, which is then one file for all other rooms.
    preserveEntrySignatures: 'allow-extension',
    plugins: [slimCodeMirror()],
    // The output is not minified, so it needs no source map. The types document it; the comments of libraries are long.
    output: {
      dir,
      format: 'esm',
      comments: { jsdoc: false, annotation: true, legal: true },
      entryFileNames: 'index.js',
      chunkFileNames: 'encryption.js',
    },
    logLevel: 'warn',
  });
  return output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
}
