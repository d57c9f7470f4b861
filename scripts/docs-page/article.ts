/** One endpoint or live message: the description beside its examples. */
import { type Html, html } from '../../src/http/page/html.ts';
import type { Block, Part } from './blocks.ts';
import { code, inline, labelOf, render } from './render.ts';

export function article({ title, blocks }: Part): Html {
  const name = blocks.find(({ kind }) => kind === 'comment');
  const samples = samplesIn(blocks);
  const words = blocks.filter((block) => block.kind !== 'code' && !isResponse(block));
  return html`<article${name?.kind === 'comment' ? html` id="${name.text}"` : undefined}>
<div class="words">
${render({ kind: 'heading', level: 3, text: title })}
${words.map((block) => route(block) ?? render(block))}
</div>
<div class="samples">
${samples}
</div>
</article>`;
}

/** A paragraph such as "**200** The room." */
const isResponse = (block: Block) => block.kind === 'paragraph' && /^\*\*\d{3}\*\* /.test(block.text);

/** Code with its label. A response is the caption of the code after it. */
function samplesIn(blocks: readonly Block[]): Html[] {
  return blocks.flatMap((block, i) => {
    const next = blocks[i + 1];
    if (block.kind === 'paragraph' && isResponse(block)) return [response(block.text, next)];
    const previous = blocks[i - 1];
    if (block.kind !== 'code' || (previous && isResponse(previous))) return [];
    return [code(block, html`${labelOf(block)}`)];
  });
}

function response(text: string, next: Block | undefined): Html {
  const caption = html`<span class="response">${inline(text)}</span>`;
  if (next?.kind === 'code') return code(next, caption);
  return html`<p class="code empty">${caption}</p>`;
}

/** The line "`GET /api/rooms`". */
function route(block: Block): Html | undefined {
  if (block.kind !== 'paragraph') return undefined;
  const [, method, path] = /^`([A-Z]+) (\/\S*)`$/.exec(block.text) ?? [];
  if (!method || !path) return undefined;
  return html`<p class="route"><span class="method ${method.toLowerCase()}">${method}</span> ${inline(`\`${path}\``)}</p>`;
}
