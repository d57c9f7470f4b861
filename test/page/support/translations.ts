/** The strings of the page in all languages, with those that it loads on demand. */
import type { InviteStrings } from '../../../web/src/i18n/invite/en.ts';
import { type Language, languageCodes, loaders } from '../../../web/src/i18n/languages.ts';
import { format, type StringKey, type Translation } from '../../../web/src/i18n/translation.ts';

/** Returns a text of the page in a language. */
export type Translate = (name: StringKey | keyof InviteStrings, values?: Record<string, string | number>) => string;

type AllStrings = Translation & InviteStrings;

export const tables = Object.fromEntries(
  await Promise.all(languageCodes.map(async (language) => [language, await stringsIn(language)] as const)),
) as Record<Language, AllStrings>;

export const translatorFor =
  (language: Language): Translate =>
  (name, values = {}) =>
    format(tables[language][name], language, values);

async function stringsIn(language: Language): Promise<AllStrings> {
  const onDemand = await import(`../../../web/src/i18n/invite/${language}.ts`);
  return { ...(await loaders[language]()).strings, ...onDemand.strings };
}
