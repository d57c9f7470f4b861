/** Renders blocks of Markdown as HTML. */
import { type Html, html } from '../../src/http/page/html.ts';
import { anchor } from '../markdown.ts';
import type { Block, Code, Heading, Table } from './blocks.ts';
import { highlighted } from './code.ts';

export function render(block: Block): Html {
  if (block.kind === 'heading') return heading(block);
  if (block.kind === 'code') return code(block, html`${labelOf(block)}`);
  if (block.kind === 'table') return table(block);
  if (block.kind === 'list') return html`<ul>${block.items.map((item) => html`<li>${inline(item)}</li>`)}</ul>`;
  if (block.kind === 'paragraph') return html`<p>${inline(block.text)}</p>`;
  return html``;
}

/** Code, bold text and links. */
export function inline(markdown: string): Html[] {
  const parts = markdown.split(/(`[^`]+`|\[[^\]]+\]\([^)]+\)|\*\*[^*]+\*\*)/);
  return parts.map((part, i) => (i % 2 === 0 ? html`${part}` : marked(part)));
}

export function code({ language, text }: Code, caption: Html): Html {
  return html`<figure class="code">
<figcaption>${caption}</figcaption>
<pre tabindex="0"><code>${highlighted(language, text)}</code></pre>
</figure>`;
}

export function labelOf({ language, text }: Code): string {
  if (language === 'js') return 'SDK';
  if (language === 'sh') return /^curl /m.test(text) ? 'curl' : 'Command line';
  if (language === 'http') return 'Headers';
  return language === 'json' ? 'JSON' : 'Response';
}

function heading({ level, text }: Heading): Html {
  const link = html`<a href="#${anchor(text)}">${inline(text)}</a>`;
  if (level === 2) return html`<h2 id="${anchor(text)}">${link}</h2>`;
  return html`<h3 id="${anchor(text)}">${link}</h3>`;
}

function marked(part: string): Html {
  if (part.startsWith('**')) return html`<strong>${part.slice(2, -2)}</strong>`;
  if (part.startsWith('`')) return codeSpan(part.slice(1, -1));
  const [, label = '', target = ''] = /^\[(.*)\]\((.*)\)$/.exec(part) ?? [];
  if (/^[#/]/.test(target)) return html`<a href="${target}">${inline(label)}</a>`;
  // The server does not serve the other documents of the repository, so they are only named.
  return html`${inline(label)} (${codeSpan(`docs/${target.replace(/#.*/, '')}`)})`;
}

/** An error such as `404 NOT_FOUND` links to its explanation. */
function codeSpan(text: string): Html {
  const [, error] = /^\d{3} ([A-Z_]+)$/.exec(text) ?? [];
  if (error) return html`<a class="error" href="#error-${error}"><code>${text}</code></a>`;
  return html`<code>${breakable(text)}</code>`;
}

/** Lets long paths and values wrap after slashes and commas. */
function breakable(text: string): Html[] {
  return text.split(/(?<=[/,])/).map((part, i) => (i === 0 ? html`${part}` : html`<wbr>${part}`));
}

function table({ head, rows }: Table): Html {
  const isErrorTable = head.join() === 'code,status,meaning';
  return html`<div class="table"><table>
<thead><tr>${head.map((cell) => html`<th scope="col">${inline(cell)}</th>`)}</tr></thead>
<tbody>${rows.map((row) => tableRow(head, row, isErrorTable ? `error-${row[0]?.slice(1, -1)}` : undefined))}</tbody>
</table></div>`;
}

/** On narrow screens, the cells are below each other, and the first one is the title. */
function tableRow(head: readonly string[], row: readonly string[], id: string | undefined): Html {
  const cells = row.map((cell, i) =>
    i === 0 ? html`<th scope="row">${inline(cell)}</th>` : html`<td data-name="${head[i]}">${inline(cell)}</td>`,
  );
  return id === undefined ? html`<tr>${cells}</tr>` : html`<tr id="${id}">${cells}</tr>`;
}
