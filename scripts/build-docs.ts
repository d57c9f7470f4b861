/** Builds the API documentation into docs.html beside the page. The server fills in its limits, and its URL if it has a public one. */
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'rolldown';
import { apiGuideTemplate } from './api-guide/index.ts';
import { docsPage } from './docs-page.ts';

export async function buildDocs(root: string, folder: string): Promise<void> {
  const [script, ...styles] = await Promise.all([
    docsScript(root),
    readFile(join(root, 'web/src/style/tokens.css'), 'utf8'),
    readFile(join(root, 'web/src/style/reset.css'), 'utf8'),
    readFile(join(root, 'web/src/docs/docs.css'), 'utf8'),
  ]);
  const unfinished = join(folder, `.docs-${process.pid}`);
  await writeFile(unfinished, docsPage(apiGuideTemplate(), { css: styles.join('\n'), script }));
  await rename(unfinished, join(folder, 'docs.html'));
}

async function docsScript(root: string): Promise<string> {
  const { output } = await build({
    cwd: root,
    input: 'web/src/docs/docs.ts',
    platform: 'browser',
    write: false,
    output: { format: 'esm', minify: true },
    logLevel: 'warn',
  });
  return output[0].code.trim();
}
