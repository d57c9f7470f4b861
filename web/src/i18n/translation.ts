/** The format of a language's strings, and how one of them becomes a sentence. */
import type firstEnglish from './languages/en/first.json';
import type english from './languages/en.json';

/** The strings that every view may show. */
export type FirstKey = keyof typeof firstEnglish;
/** All strings, with those of the parts that are loaded on demand. */
export type StringKey = keyof typeof english;

export type Values = Record<string, string | number>;

/** A string that depends on the number `n`, with the plural forms that the language has. */
export type Plural = Partial<Record<Intl.LDMLPluralRule, string>> & { other: string };

/** A catalog with a missing key does not compile. A test finds unknown ones. */
export type Translation = Record<StringKey, string | Plural>;

/** Picks the plural form for `values.n`, and replaces each `{name}` by its value. */
export function format(entry: string | Plural, language: string, values: Values): string {
  const pattern = typeof entry === 'string' ? entry : pluralOf(entry, language, Number(values.n));
  return pattern.replace(/\{(\w+)\}/g, (_, name) => isolate(values[name], language));
}

function pluralOf(forms: Plural, language: string, n: number): string {
  return forms[new Intl.PluralRules(language).select(n)] ?? forms.other;
}

/** Unicode isolates prevent a value of another direction from reordering the sentence. */
const isolate = (value: unknown, language: string): string =>
  directionOf(language) === 'rtl' || isRightToLeft.test(String(value)) ? `\u2068${value}\u2069` : String(value);

const isRightToLeft = /[\p{Script=Hebrew}\p{Script=Arabic}]/u;

export const directionOf = (language: string): 'ltr' | 'rtl' => (rightToLeft.has(language) ? 'rtl' : 'ltr');

const rightToLeft: ReadonlySet<string> = new Set(['ar', 'fa', 'he', 'ur']);
