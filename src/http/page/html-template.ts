/** HTML templates. Values are escaped unless they are HTML already. */

export interface Html {
  readonly html: string;
}

type Part = Html | string | number | undefined | readonly Html[];

export function html(fixed: TemplateStringsArray, ...parts: Part[]): Html {
  return { html: String.raw({ raw: fixed }, ...parts.map(toHtml)) };
}

function toHtml(part: Part): string {
  if (part === undefined) return '';
  if (typeof part === 'string' || typeof part === 'number') return escapeMarkup(String(part));
  return 'html' in part ? part.html : part.map(({ html }) => html).join('');
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

export function escapeMarkup(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] as string);
}
