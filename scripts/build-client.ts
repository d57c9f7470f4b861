/**
 * Builds the SDK for browsers and all other runtimes: index.js, encryption.js, which it loads on demand, and lite.js, a
 * small part of it.
 */
import { build } from 'rolldown';
import { slimCodeMirror } from './build-slim-codemirror.ts';

/** Returns the paths of the modules in the output. */
export async function buildClient(root: string, dir = 'dist/client'): Promise<string[]> {
  // Separately, because a common build would put the code that both use into a third file.
  return [...(await buildEntry(root, dir, 'index')), ...(await buildEntry(root, dir, 'lite'))];
}

async function buildEntry(root: string, dir: string, name: 'index' | 'lite'): Promise<string[]> {
  const { output } = await build({
    cwd: root,
    input: `src/client/${name}.ts`,
    platform: 'neutral',
    // The encryption imports from index.js, which is then one file for all other rooms.
    preserveEntrySignatures: 'allow-extension',
    plugins: [slimCodeMirror()],
    // The output is not minified, so it needs no source map. The types document it; the comments of libraries are long.
    output: {
      dir,
      format: 'esm',
      comments: { jsdoc: false, annotation: true, legal: true },
      entryFileNames: `${name}.js`,
      chunkFileNames: 'encryption.js',
    },
    logLevel: 'warn',
  });
  return output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
}
