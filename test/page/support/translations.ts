/** The strings of the page in all languages. */
import english from '../../../web/src/i18n/languages/en.json' with { type: 'json' };
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
  return language === 'en' ? english : (await loaders[language]()).default;
}
