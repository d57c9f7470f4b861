/** Builds the SDK into dist/client/index.js: one file that browsers and everything else load as it is. */
import { build } from 'rolldown';
import { slimCodeMirror } from './build-slim-codemirror.ts';

export async function buildClient(root: string): Promise<void> {
  await build({
    cwd: root,
    input: 'src/client/index.ts',
    platform: 'neutral',
    plugins: [slimCodeMirror()],
    // As readable as its source, which is why it comes without a map.
    output: { file: 'dist/client/index.js', format: 'esm' },
    logLevel: 'warn',
  });
}
