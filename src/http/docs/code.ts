/** Code on the docs page, with highlighted names of fields and headers. */
import { type Html, html } from './html.ts';

const names: Record<string, RegExp> = { json: /("(?:[^"\\]|\\.)*"(?=:))/, http: /^([\w-]+:)/m };

export function code(language: string, text: string): Html[] {
  const pattern = names[language];
  if (!pattern) return [html`${text}`];
  return text.split(pattern).map((part, i) => (i % 2 === 1 ? html`<i>${part}</i>` : html`${part}`));
}

export function jsonCode(value: unknown): Html[] {
  return code('json', JSON.stringify(value, null, 2));
}
