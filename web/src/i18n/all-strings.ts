/** All strings, for the parts of the page that are loaded on demand. This keeps 4 kB, gzipped, out of the first view. */
import moreEnglish from './languages/en/more.json' with { type: 'json' };
import { addEnglish, translate } from './strings.ts';

addEnglish(moreEnglish);

export const t = translate;
