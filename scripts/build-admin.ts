/** Builds the admin page into admin.html beside the page: one file, so that no other page grows. */
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'rolldown';
import { html } from '../src/http/page/page-files.ts';

export async function buildAdmin(root: string, folder: string): Promise<void> {
  const [script, ...styles] = await Promise.all([
    adminScript(root),
    readFile(join(root, 'web/src/style/tokens.css'), 'utf8'),
    readFile(join(root, 'web/src/style/reset.css'), 'utf8'),
    readFile(join(root, 'web/src/admin/admin.css'), 'utf8'),
  ]);
  const unfinished = join(folder, `.admin-${process.pid}`);
  await writeFile(unfinished, adminPage(styles.join('\n'), script));
  await rename(unfinished, join(folder, 'admin.html'));
}

async function adminScript(root: string): Promise<string> {
  const { output } = await build({
    cwd: root,
    input: 'web/src/admin/main.tsx',
    platform: 'browser',
    write: false,
    output: { format: 'esm', minify: true },
    logLevel: 'warn',
  });
  return output[0].code.trim();
}

/** Links are relative, so that it also works if the server has a path of its own. */
const adminPage = (css: string, script: string): string =>
  html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>Poproom admin</title>
<link rel="icon" href="assets/icon.svg" type="image/svg+xml">
<style>${{ html: css }}</style>
</head>
<body>
<div id="app"></div>
<script type="module">${{ html: script }}</script>
</body>
</html>
`.html;
