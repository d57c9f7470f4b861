/** The strings of the page in all languages. */
import { strings as english } from '../../../web/src/i18n/languages/en.ts';
import { strings as englishHome } from '../../../web/src/i18n/languages/en-home.ts';
import { strings as moreEnglish } from '../../../web/src/i18n/languages/en-more.ts';
import { strings as englishNames } from '../../../web/src/i18n/languages/en-names.ts';
import { type Language, languageCodes, loaders } from '../../../web/src/i18n/languages.ts';
import { format, type StringKey, type Translation } from '../../../web/src/i18n/translation.ts';

/** Returns a text of the page in a language. */
export type Translate = (name: StringKey, values?: Record<string, string | number>) => string;

export const tables = Object.fromEntries(
  await Promise.all(languageCodes.map(async (language) => [language, await stringsIn(language)] as const)),
) as Record<Language, Translation>;

export const translatorFor =
  (language: Language): Translate =>
  (name, values = {}) =>
    format(tables[language][name], language, values);

async function stringsIn(language: Language): Promise<Translation> {
  return language === 'en'
    ? { ...english, ...englishHome, ...moreEnglish, ...englishNames }
    : (await loaders[language]()).strings;
}
