/** Code with highlighted names of fields and headers, comments and strings. */
import { type Html, html } from '../../src/http/page/html.ts';

/** One group for each kind of token. */
const tokens: Record<string, RegExp> = {
  json: /(?<name>"(?:[^"\\]|\\.)*"(?=:))|(?<text>"(?:[^"\\]|\\.)*")/g,
  http: /(?<name>^[\w-]+:)/gm,
  sh: /(?<note>^#.*$)|(?<text>'[^']*'|"[^"]*")/gm,
  js: /(?<note>\/\/.*$)|(?<text>'[^']*'|`[^`]*`)|(?<name>\b(?:import|from|const|await|for|of|if)\b)/gm,
};

export function highlighted(language: string, code: string): Html[] {
  const pattern = tokens[language];
  if (!pattern) return [html`${code}`];
  const parts: Html[] = [];
  let end = 0;
  for (const match of code.matchAll(pattern)) {
    const kind = Object.entries(match.groups ?? {}).find(([, value]) => value !== undefined)?.[0] ?? '';
    parts.push(html`${code.slice(end, match.index)}<span class="${kind}">${match[0]}</span>`);
    end = match.index + match[0].length;
  }
  return [...parts, html`${code.slice(end)}`];
}
