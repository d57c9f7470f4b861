/** Builds the SDK into dist/client/index.js: one file for browsers and all other runtimes. */
import { build } from 'rolldown';
import { slimCodeMirror } from './build-slim-codemirror.ts';

export async function buildClient(root: string): Promise<void> {
  await build({
    cwd: root,
    input: 'src/client/index.ts',
    platform: 'neutral',
    plugins: [slimCodeMirror()],
    // The output is as readable as the source, so it needs no source map.
    output: { file: 'dist/client/index.js', format: 'esm' },
    logLevel: 'warn',
  });
}
