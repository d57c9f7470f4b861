/** Languages that are written from right to left, and what their sentences need. */

const rightToLeft: ReadonlySet<string> = new Set(['ar', 'fa', 'he', 'ur']);

export const directionOf = (language: string): 'ltr' | 'rtl' => (rightToLeft.has(language) ? 'rtl' : 'ltr');

/** A value in a sentence. Unicode isolates prevent a name of another direction from reordering the sentence. */
export const isolate = (value: unknown, language: string): string =>
  directionOf(language) === 'rtl' || isRightToLeft.test(String(value)) ? `\u2068${value}\u2069` : String(value);

const isRightToLeft = /[\p{Script=Hebrew}\p{Script=Arabic}]/u;
