/** All strings, for the parts of the page that are loaded on demand. This keeps 4 kB, gzipped, out of the first view. */
import { strings } from './languages/en-more.ts';
import { addEnglish, translate } from './strings.ts';

addEnglish(strings);

export const t = translate;
