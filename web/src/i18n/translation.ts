/** The type of a language's strings. */
import type { strings } from './languages/en.ts';
import { directionOf } from './languages.ts';

export type StringKey = keyof typeof strings;

/** A string that depends on the number `n`, with the plural forms that the language has. */
export type Plural = Partial<Record<Intl.LDMLPluralRule, string>> & { other: string };

/** A missing or unknown key does not compile. */
export type Translation = Record<StringKey, string | Plural>;

/** Picks the plural form for `values.n`, and replaces each `{name}` by its value. */
export function format(entry: string | Plural, language: string, values: Record<string, string | number>): string {
  const pattern = typeof entry === 'string' ? entry : pluralOf(entry, language, Number(values.n));
  const isolated = directionOf(language) === 'rtl' ? isolate : String;
  return pattern.replace(/\{(\w+)\}/g, (_, name) => isolated(values[name]));
}

/** Between Unicode isolates, so that a name or a link in another script does not reorder the sentence around it. */
const isolate = (value: unknown): string => `\u2068${value}\u2069`;

function pluralOf(forms: Plural, language: string, n: number): string {
  return forms[new Intl.PluralRules(language).select(n)] ?? forms.other;
}
