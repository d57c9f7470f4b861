/** Lets a module have the strings of one language out of the table of all: `./strings.ts?language=de`. */
import { statSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import type { Plugin } from 'vite';

const asked = /^(.*\/strings\.ts)\?language=([a-z]{2})$/;

export const oneLanguage: Plugin = {
  name: 'one-language',
  enforce: 'pre',
  async load(id) {
    const [, file = '', language = ''] = asked.exec(id) ?? [];
    if (file === '') return null;
    this.addWatchFile(file);
    // Named by its time, or a changed table would come from Node's memory.
    const { strings } = await import(`${pathToFileURL(file).href}?${statSync(file).mtimeMs}`);
    const words = Object.entries<Record<string, string>>(strings).map(([name, all]) => [name, all[language]]);
    return `export const strings = ${JSON.stringify(Object.fromEntries(words))};`;
  },
};
