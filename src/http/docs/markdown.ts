/** Converts the Markdown of our descriptions to HTML: paragraphs, lists, fences, code and sections. */
import { code } from './code.ts';
import { type Html, html } from './html.ts';

export interface Section {
  title: string;
  body: string;
}

/** Splits a text at its second-level headings. */
export function sections(markdown: string): { lead: string; rest: Section[] } {
  const [lead = '', ...rest] = markdown.split(/^## /m);
  return {
    lead: lead.trim(),
    rest: rest.map((text) => {
      const [title = '', ...lines] = text.split('\n');
      return { title, body: lines.join('\n') };
    }),
  };
}

export function blocks(markdown: string): Html[] {
  return markdown.split(/^(```\w*\n[\s\S]*?\n```)$/m).flatMap((text) => (isFence(text) ? [fence(text)] : prose(text)));
}

export function inline(text: string): Html[] {
  return text
    .split(/(`[^`]+`)/)
    .map((part) => (part.startsWith('`') ? html`<code>${part.slice(1, -1)}</code>` : html`${part}`));
}

const isFence = (text: string) => text.startsWith('```');

function fence(text: string): Html {
  const [opening = '', ...lines] = text.split('\n');
  const language = opening.slice(3);
  return html`<pre class="${language}" tabindex="0"><code>${code(language, lines.slice(0, -1).join('\n'))}</code></pre>`;
}

function prose(text: string): Html[] {
  const paragraphs = text.split(/\n{2,}/).filter((paragraph) => paragraph.trim() !== '');
  return paragraphs.map((paragraph) =>
    paragraph.trim().startsWith('- ') ? list(paragraph) : html`<p>${inline(paragraph.trim())}</p>`,
  );
}

function list(text: string): Html {
  const items = text.trim().slice(2).split(/\n- /);
  return html`<ul>${items.map((item) => html`<li>${inline(item)}</li>`)}</ul>`;
}
