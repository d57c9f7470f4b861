/** Languages that are written from right to left, and what their sentences need. */

const rightToLeft: ReadonlySet<string> = new Set(['ar', 'fa', 'he', 'ur']);

export const directionOf = (language: string): 'ltr' | 'rtl' => (rightToLeft.has(language) ? 'rtl' : 'ltr');

/** A value in a sentence. Unicode isolates prevent a Latin name or link from reordering an Arabic sentence. */
export const isolate = (value: unknown, language: string): string =>
  directionOf(language) === 'rtl' ? `\u2068${value}\u2069` : String(value);
