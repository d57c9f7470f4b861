/** Vite plugin: `./strings.ts?language=de` imports the strings of a single language. */
import { statSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import type { Plugin } from 'vite';

const languageImport = /^(.*\/strings\.ts)\?language=([a-z]{2})$/;

export const oneLanguage: Plugin = {
  name: 'one-language',
  enforce: 'pre',
  async load(id) {
    const [, file = '', language = ''] = languageImport.exec(id) ?? [];
    if (file === '') return null;
    this.addWatchFile(file);
    // The modification time in the URL keeps Node from returning a cached table after a change.
    const { strings } = await import(`${pathToFileURL(file).href}?${statSync(file).mtimeMs}`);
    const entries = Object.entries<Record<string, string>>(strings).map(([key, all]) => [key, all[language]]);
    return `export const strings = ${JSON.stringify(Object.fromEntries(entries))};`;
  },
};
