/** The API documentation as an HTML page: one file without scripts or external resources. */

import type { OpenApiDocument } from '../openapi/document.ts';
import { jsonCode } from './code.ts';
import { type Entry, endpointArticle } from './endpoint.ts';
import { type Html, html } from './html.ts';
import { blocks, inline, type Section, sections } from './markdown.ts';
import { docsStyle } from './style.ts';

export function docsPage(document: OpenApiDocument): string {
  const { info, tags } = document;
  const { lead, rest: guide } = sections(info.description);
  const entries = entriesOf(document);
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${info.title} API</title>
<style>${{ html: docsStyle }}</style>
</head>
<body id="top">
<a class="skip" href="#content">Skip to content</a>
${sidebar(document, guide, entries)}
<main id="content">
<header>
<h1>${info.title} <span>API ${info.version}</span></h1>
${blocks(lead)}
</header>
${guide.map(guideSection)}
${tags.map((tag) => tagSection(document, tag, entriesIn(entries, tag.name)))}
${errorSection(document)}
<footer>
<p>${info.title} API ${info.version}. <a href="/api/openapi.json">OpenAPI document</a>. <a href="#top">Back to top</a>.</p>
</footer>
</main>
</body>
</html>
`.html;
}

function entriesOf({ paths }: OpenApiDocument): Entry[] {
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ method, path, operation })),
  );
}

function entriesIn(entries: readonly Entry[], tag: string): Entry[] {
  return entries.filter(({ operation }) => operation.tags.includes(tag));
}

const slug = (title: string) => title.toLowerCase().replace(/\W+/g, '-');
/** Prefixed, because the guide and the endpoints both have a chapter on rooms. */
const tagId = (name: string) => `endpoints-${slug(name)}`;

function sidebar({ info, tags }: OpenApiDocument, guide: readonly Section[], entries: readonly Entry[]): Html {
  return html`<nav aria-label="Contents">
<a class="brand" href="#top">${info.title}</a>
<details>
<summary>Contents</summary>
<p>Guide</p>
<ul>${guide.map(({ title }) => html`<li><a href="#${slug(title)}">${title}</a></li>`)}</ul>
${tags.map(
  ({ name }) => html`<p><a href="#${tagId(name)}">${name}</a></p>
<ul>${entriesIn(entries, name).map(sidebarLink)}</ul>`,
)}
<p>Reference</p>
<ul>
<li><a href="#error-codes">Error codes</a></li>
<li><a href="/api/openapi.json">openapi.json</a></li>
</ul>
</details>
</nav>`;
}

function sidebarLink({ method, operation }: Entry): Html {
  const verb = method === 'delete' ? 'DEL' : method.toUpperCase();
  return html`<li><a href="#${operation.operationId}"><span>${verb}</span>${operation.summary}</a></li>`;
}

function guideSection({ title, body }: Section): Html {
  return html`<section class="guide" id="${slug(title)}">
<h2>${title}</h2>
${blocks(body)}
</section>`;
}

function tagSection(document: OpenApiDocument, tag: OpenApiDocument['tags'][number], entries: readonly Entry[]): Html {
  return html`<section id="${tagId(tag.name)}">
<h2>${tag.name}</h2>
<p class="lead">${inline(tag.description)}</p>
${entries.map((entry) => endpointArticle(document, entry))}
</section>`;
}

function errorSection({ components }: OpenApiDocument): Html {
  return html`<section class="guide" id="error-codes">
<h2>Error codes</h2>
<p class="lead">All error codes, with an example of each.</p>
${Object.entries(components.examples).map(
  ([code, { summary, value, 'x-status': status }]) => html`<details class="code" id="error-${code}">
<summary><b class="status">${status}</b> <code>${code}</code> <span>${summary}</span></summary>
<pre class="answer" tabindex="0"><code>${jsonCode(value)}</code></pre>
</details>`,
)}
</section>`;
}
