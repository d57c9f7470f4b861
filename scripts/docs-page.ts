/** The API guide as an HTML page: one file, which needs no other file except the icon. */
import packageJson from '../package.json' with { type: 'json' };
import { type Html, html } from '../src/http/page/page-files.ts';
import { anchor, tableCells } from './markdown.ts';

interface PageParts {
  css: string;
  script: string;
}

interface Chapter {
  title: string;
  introduction: Block[];
  /** The parts with a third-level heading. */
  articles: Part[];
}

export function docsPage(markdown: string, { css, script }: PageParts): string {
  const [lead, ...parts] = splitAt(2, blocksOf(markdown));
  const chapters = parts.map(chapterOf);
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Poproom API</title>
<meta name="description" content="How to use the API of this Poproom server: endpoints, live messages, errors and limits.">
<link rel="icon" href="/assets/icon.svg" type="image/svg+xml">
<style>${{ html: css }}</style>
</head>
<body id="top">
<a class="skip-link" href="#content">Skip to content</a>
${sidebar(chapters)}
<main id="content">
<header>
<h1>Poproom API</h1>
<p class="version">Version ${packageJson.version}</p>
${lead?.blocks.map(render)}
</header>
${chapters.map(section)}
<footer>
<p><a href="/">Open Poproom</a> <a href="#top">Back to top</a></p>
</footer>
</main>
<script type="module">${{ html: script }}</script>
</body>
</html>
`.html;
}

function chapterOf({ title, blocks }: Part): Chapter {
  const [first, ...articles] = splitAt(3, blocks);
  return { title, introduction: first?.blocks ?? [], articles };
}

function section({ title, introduction, articles }: Chapter): Html {
  return html`<section>
${render({ kind: 'heading', level: 2, text: title })}
${introduction.map(render)}
${articles.map(article)}
</section>`;
}

function sidebar(chapters: readonly Chapter[]): Html {
  return html`<nav aria-label="Contents">
<a class="home" href="/"><img src="/assets/icon.svg" alt="" width="28" height="28">Poproom</a>
<details>
<summary>Contents</summary>
<ul>${chapters.map(chapterLinks)}</ul>
</details>
</nav>`;
}

function chapterLinks({ title, articles }: Chapter): Html {
  const nested = articles.map((part) => html`<li>${contentsLink(part.title)}</li>`);
  return html`<li>${contentsLink(title)}${nested.length > 0 ? html`<ul>${nested}</ul>` : undefined}</li>`;
}

function contentsLink(title: string): Html {
  return html`<a href="#${anchor(title)}">${inline(title)}</a>`;
}

/** One endpoint or live message: the description beside its examples. */
function article({ title, blocks }: Part): Html {
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
    return [renderCode(block, html`${labelOf(block)}`)];
  });
}

function response(text: string, next: Block | undefined): Html {
  const caption = html`<span class="response">${inline(text)}</span>`;
  if (next?.kind === 'code') return renderCode(next, caption);
  return html`<p class="code empty">${caption}</p>`;
}

/** The line "`GET /api/rooms`". */
function route(block: Block): Html | undefined {
  if (block.kind !== 'paragraph') return undefined;
  const [, method, path] = /^`([A-Z]+) (\/\S*)`$/.exec(block.text) ?? [];
  if (!method || !path) return undefined;
  return html`<p class="route"><span class="method ${method.toLowerCase()}">${method}</span> ${inline(`\`${path}\``)}</p>`;
}

function render(block: Block): Html {
  if (block.kind === 'heading') return heading(block);
  if (block.kind === 'code') return renderCode(block, html`${labelOf(block)}`);
  if (block.kind === 'table') return renderTable(block);
  if (block.kind === 'list') return html`<ul>${block.items.map((item) => html`<li>${inline(item)}</li>`)}</ul>`;
  if (block.kind === 'paragraph') return html`<p>${inline(block.text)}</p>`;
  return html``;
}

/** Code, bold text and links. */
function inline(markdown: string): Html[] {
  const parts = markdown.split(/(`[^`]+`|\[[^\]]+\]\([^)]+\)|\*\*[^*]+\*\*)/);
  return parts.map((part, i) => (i % 2 === 0 ? html`${part}` : marked(part)));
}

function renderCode({ language, text }: Code, caption: Html): Html {
  return html`<figure class="code">
<figcaption>${caption}</figcaption>
<pre tabindex="0"><code>${highlighted(language, text)}</code></pre>
</figure>`;
}

function labelOf({ language, text }: Code): string {
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
  if (text.length <= 20) return html`<code class="short">${text}</code>`;
  return html`<code>${breakable(text)}</code>`;
}

/** Lets long paths and values wrap after slashes and commas, but not within `http://localhost:8080`. */
function breakable(text: string): Html[] {
  return text.split(/(?<=[^:/]\/|,)/).map((part, i) => (i === 0 ? html`${part}` : html`<wbr>${part}`));
}

function renderTable({ head, rows }: Table): Html {
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

type Block =
  | Heading
  | { kind: 'comment'; text: string }
  | Code
  | Table
  | { kind: 'list'; items: string[] }
  | { kind: 'paragraph'; text: string };

interface Heading {
  kind: 'heading';
  level: number;
  text: string;
}

interface Code {
  kind: 'code';
  language: string;
  text: string;
}

interface Table {
  kind: 'table';
  head: string[];
  rows: string[][];
}

/** A heading with the blocks below it. */
interface Part {
  title: string;
  blocks: Block[];
}

/** Splits at the headings of a level. The first part has no heading. */
function splitAt(level: number, blocks: readonly Block[]): Part[] {
  const parts: Part[] = [{ title: '', blocks: [] }];
  for (const block of blocks) {
    if (block.kind === 'heading' && block.level === level) parts.push({ title: block.text, blocks: [] });
    else if (block.kind !== 'heading' || block.level > level) parts.at(-1)?.blocks.push(block);
  }
  return parts;
}

const fence = /^(```\w*\n[\s\S]*?\n```)$/m;

/** Splits the Markdown of the API guide into blocks. It has headings, paragraphs, lists, tables, fences and comments. */
function blocksOf(markdown: string): Block[] {
  return markdown.split(fence).flatMap((text) => (text.startsWith('```') ? [codeBlock(text)] : prose(text)));
}

function codeBlock(text: string): Block {
  const [opening = '', ...lines] = text.split('\n');
  return { kind: 'code', language: opening.slice(3), text: lines.slice(0, -1).join('\n') };
}

function prose(text: string): Block[] {
  return text
    .split(/\n{2,}/)
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map(block);
}

function block(text: string): Block {
  const [, marks, heading = ''] = /^(#+) (.*)$/.exec(text) ?? [];
  if (marks) return { kind: 'heading', level: marks.length, text: heading };
  const [, comment] = /^<!-- (.*) -->$/.exec(text) ?? [];
  if (comment !== undefined) return { kind: 'comment', text: comment };
  if (text.startsWith('| ')) return tableBlock(text);
  if (text.startsWith('- ')) return { kind: 'list', items: text.slice(2).split(/\n- /) };
  return { kind: 'paragraph', text };
}

function tableBlock(text: string): Block {
  const [head = [], , ...rows] = tableCells(text);
  return { kind: 'table', head, rows };
}

/** One group for each kind of token. */
const tokens: Record<string, RegExp> = {
  json: /(?<name>"(?:[^"\\]|\\.)*"(?=:))|(?<text>"(?:[^"\\]|\\.)*")/g,
  http: /(?<name>^[\w-]+:)/gm,
  sh: /(?<note>^#.*$)|(?<text>'[^']*'|"[^"]*")/gm,
  js: /(?<note>\/\/.*$)|(?<text>'[^']*'|`[^`]*`)|(?<name>\b(?:import|from|const|await|for|of|if)\b)/gm,
};

/** Code with highlighted names of fields and headers, comments and strings. */
function highlighted(language: string, code: string): Html[] {
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
