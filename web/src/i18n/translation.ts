/** The type of a language's strings. */
import { isolate } from './direction.ts';
import type { strings } from './languages/en.ts';

export type StringKey = keyof typeof strings;

/** A string that depends on the number `n`, with the plural forms that the language has. */
export type Plural = Partial<Record<Intl.LDMLPluralRule, string>> & { other: string };

/** A missing or unknown key does not compile. */
export type Translation = Record<StringKey, string | Plural>;

/** Picks the plural form for `values.n`, and replaces each `{name}` by its value. */
export function format(entry: string | Plural, language: string, values: Record<string, string | number>): string {
  const pattern = typeof entry === 'string' ? entry : pluralOf(entry, language, Number(values.n));
  return pattern.replace(/\{(\w+)\}/g, (_, name) => isolate(values[name], language));
}

function pluralOf(forms: Plural, language: string, n: number): string {
  return forms[new Intl.PluralRules(language).select(n)] ?? forms.other;
}
