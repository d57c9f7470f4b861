/** The API guide as an HTML page: one file, which needs no other file except the icon. */
import packageJson from '../../package.json' with { type: 'json' };
import { type Html, html } from '../../src/http/page/html.ts';
import { anchor } from '../markdown.ts';
import { article } from './article.ts';
import { type Block, blocksOf, type Part, splitAt } from './blocks.ts';
import { inline, render } from './render.ts';

export interface PageParts {
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
