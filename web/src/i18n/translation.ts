/** The type of a language's strings. */
import type { strings } from './languages/en.ts';

export type StringKey = keyof typeof strings;

/** A string that depends on the number `n`, with the plural forms that the language has. */
export type Plural = Partial<Record<Intl.LDMLPluralRule, string>> & { other: string };

/** A missing or unknown key does not compile. */
export type Translation = Record<StringKey, string | Plural>;

/** Picks the plural form for `values.n`, and replaces each `{name}` by its value. */
export function format(entry: string | Plural, language: string, values: Record<string, string | number>): string {
  const pattern = typeof entry === 'string' ? entry : pluralOf(entry, language, Number(values.n));
  return pattern.replace(/\{(\w+)\}/g, (_, name) => isolated(String(values[name])));
}

/** A name that is written from right to left must not reorder the message around it. */
const isolated = (value: string): string =>
  /\p{Script=Hebrew}|\p{Script=Arabic}/u.test(value) ? `\u2068${value}\u2069` : value;

function pluralOf(forms: Plural, language: string, n: number): string {
  return forms[new Intl.PluralRules(language).select(n)] ?? forms.other;
}
