/** The strings of the page in all languages, with those that it loads on demand. */
import type { EncryptionStrings } from '../../../web/src/i18n/encryption/en.ts';
import type { InviteStrings } from '../../../web/src/i18n/invite/en.ts';
import { type Language, languageCodes, loaders } from '../../../web/src/i18n/languages.ts';
import { format, type Translation } from '../../../web/src/i18n/translation.ts';

/** Returns a text of the page in a language. */
export type Translate = (name: keyof AllStrings, values?: Record<string, string | number>) => string;

export type AllStrings = Translation & InviteStrings & EncryptionStrings;

export const tables = Object.fromEntries(
  await Promise.all(languageCodes.map(async (language) => [language, await stringsIn(language)] as const)),
) as Record<Language, AllStrings>;

export const translatorFor =
  (language: Language): Translate =>
  (name, values = {}) =>
    format(tables[language][name], language, values);

async function stringsIn(language: Language): Promise<AllStrings> {
  const invite = await import(`../../../web/src/i18n/invite/${language}.ts`);
  const encryption = await import(`../../../web/src/i18n/encryption/${language}.ts`);
  return { ...(await loaders[language]()).strings, ...invite.strings, ...encryption.strings };
}
