/** Splits the Markdown of the API guide into blocks. It has headings, paragraphs, lists, tables, fences and comments. */
import { tableCells } from '../markdown.ts';

export type Block =
  | Heading
  | { kind: 'comment'; text: string }
  | Code
  | Table
  | { kind: 'list'; items: string[] }
  | { kind: 'paragraph'; text: string };

export interface Heading {
  kind: 'heading';
  level: number;
  text: string;
}

export interface Code {
  kind: 'code';
  language: string;
  text: string;
}

export interface Table {
  kind: 'table';
  head: string[];
  rows: string[][];
}

/** A heading with the blocks below it. */
export interface Part {
  title: string;
  blocks: Block[];
}

/** Splits at the headings of a level. The first part has no heading. */
export function splitAt(level: number, blocks: readonly Block[]): Part[] {
  const parts: Part[] = [{ title: '', blocks: [] }];
  for (const block of blocks) {
    if (block.kind === 'heading' && block.level === level) parts.push({ title: block.text, blocks: [] });
    else if (block.kind !== 'heading' || block.level > level) parts.at(-1)?.blocks.push(block);
  }
  return parts;
}

const fence = /^(```\w*\n[\s\S]*?\n```)$/m;

export function blocksOf(markdown: string): Block[] {
  return markdown.split(fence).flatMap((text) => (text.startsWith('```') ? [code(text)] : prose(text)));
}

function code(text: string): Block {
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
  if (text.startsWith('| ')) return table(text);
  if (text.startsWith('- ')) return { kind: 'list', items: text.slice(2).split(/\n- /) };
  return { kind: 'paragraph', text };
}

function table(text: string): Block {
  const [head = [], , ...rows] = tableCells(text);
  return { kind: 'table', head, rows };
}
