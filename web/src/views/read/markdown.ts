/** Parses Markdown into a tree of plain objects, which the page renders without HTML. */
import createMarkdown, { type Token } from 'markdown-it';
import { attempt } from '../../../../src/client/shapes.ts';

/** Text, or an element with only the properties that its name allows. */
export type ReadNode = string | ReadElement;

export interface ReadElement {
  /** Of an HTML element, or `codeblock`. */
  name: string;
  children: ReadNode[];
  /** Of a link: http, https, mailto or tel. */
  href?: string;
  /** Of an image: the name of a file, or its URL. */
  source?: string;
  /** Of a code block. */
  language?: string;
  /** Of an ordered list. */
  start?: number;
  /** Of a cell in a table. */
  align?: string;
  /** Of a task. */
  isDone?: boolean;
  /** A list or a paragraph without space between its items. */
  isTight?: boolean;
  /** Of highlighted code. */
  class?: string;
}

/** The tags of tokens that become an element. Every other token is shown as text, unless `nodeOf` names it. */
const elements = /^(blockquote|em|h[1-6]|li|ol|p|s|strong|table|tbody|td|th|thead|tr|ul)$/;

/** A browser needs long to lay out more. */
const maxElements = 20_000;
const maxNesting = 50;

const markdown = createMarkdown({ html: false, linkify: true, breaks: true, maxNesting });
markdown.linkify.set({ fuzzyLink: true });
// Every target is checked here instead, so that the text of a rejected link is not shown as Markdown.
markdown.validateLink = () => true;

/** Undefined if the text is too complex. */
export function parseMarkdown(text: string): ReadNode[] | undefined {
  const tree = new Tree();
  for (const token of markdown.parse(text, {})) if (!tree.add(token)) return undefined;
  return tree.root.children;
}

/** Built from a flat list of tokens, in which an element has a token for its start and one for its end. */
class Tree {
  readonly root: ReadElement = { name: 'span', children: [] };
  readonly #open: ReadElement[] = [this.root];
  #elements = 0;
  readonly #images = new Set<string>();

  /** Returns false if the tree is too large. The parser drops what is nested more deeply. */
  add(token: Token): boolean {
    if (token.type === 'inline') return (token.children ?? []).every((child) => this.add(child));
    if (token.level >= maxNesting - 1 || this.#elements > maxElements) return false;
    if (token.nesting < 0) this.#close();
    else this.#place(token);
    return true;
  }

  get #parent(): ReadElement {
    return this.#open.at(-1) as ReadElement;
  }

  #close(): void {
    if (this.#open.length > 1) this.#open.pop();
  }

  #place(token: Token): void {
    const node = this.#firstMention(nodeOf(token));
    if (typeof node !== 'string') this.#elements += 1;
    const placed = typeof node === 'string' ? this.#withoutTask(node) : node;
    const { children } = this.#parent;
    const last = children.length - 1;
    // Short pieces of text that belong together are found by a search.
    if (typeof placed === 'string' && typeof children[last] === 'string') children[last] += placed;
    else if (placed !== '') children.push(placed);
    if (token.nesting > 0) this.#open.push(node as ReadElement);
  }

  /** Further mentions of an image become text, so that a text cannot load it any number of times. */
  #firstMention(node: ReadNode): ReadNode {
    if (typeof node === 'string' || node.source === undefined) return node;
    const isKnown = this.#images.has(node.source);
    this.#images.add(node.source);
    return isKnown ? (node.children[0] ?? '') : node;
  }

  /** `[x] ` at the start of a list item. */
  #withoutTask(text: string): string {
    const item = this.#open.at(-2);
    const isStart = this.#parent.children.length === 0 && this.#parent.name === 'p' && item?.name === 'li';
    const mark = isStart && item.children[0] === this.#parent ? /^\[([ xX])\]\s+/.exec(text) : null;
    if (!mark || !item) return text;
    item.isDone = mark[1] !== ' ';
    return text.slice(mark[0].length);
  }
}

/** For a token that starts an element, without its children. */
function nodeOf(token: Token): ReadNode {
  const { type, content, tag: name, hidden } = token;
  switch (type) {
    case 'softbreak':
    case 'hardbreak':
    case 'hr':
      return { name, children: [] };
    case 'code_inline':
      return { name: 'code', children: [content] };
    case 'code_block':
      return { name: 'codeblock', children: [content] };
    case 'fence':
      return { name: 'codeblock', children: [content], language: token.info.trim().split(/\s/, 1)[0] ?? '' };
    case 'image':
      return { name: 'img', children: [content], source: decoded(String(token.attrGet('src') ?? '')) };
    case 'link_open':
      return linkOf(token);
  }
  if (!elements.test(name)) return content;
  const element: ReadElement = { name, children: [] };
  if (name === 'ol') element.start = Number(token.attrGet('start') ?? 1);
  const align = /(left|center|right)/.exec(String(token.attrGet('style') ?? ''))?.[1];
  if (align) element.align = align;
  if (hidden) element.isTight = true;
  return element;
}

/** Without a target if it is not allowed: the page shows the text only. */
function linkOf(token: Token): ReadElement {
  const href = allowedHref(String(token.attrGet('href') ?? ''));
  return href === undefined ? { name: 'span', children: [] } : { name: 'a', children: [], href };
}

/** Only schemes that cannot run code. An e-mail has no subject or body, which a stranger could have written. */
export function allowedHref(href: string): string | undefined {
  if (/^https?:\/\//i.test(href)) return URL.parse(href)?.href;
  if (/^mailto:[^\s?&%]+@[^\s?&%]+$/i.test(href) || /^tel:\+?[\d().-]{3,25}$/i.test(href)) return href;
  return undefined;
}

/** The parser encodes the spaces in a file name. */
const decoded = (url: string): string => attempt(() => decodeURIComponent(url)) ?? url;
