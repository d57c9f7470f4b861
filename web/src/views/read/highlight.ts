/** Colours code. Only the worker of the read view loads it, with the first code block that names a language. */
import highlighter from 'highlight.js/lib/common';
import type { ReadNode } from './markdown.ts';

/** The page needs long to show more. */
const maxLength = 30_000;
const maxDepth = 100;

/** A part of the tree that the highlighter makes before its HTML. */
type Part = string | { scope?: string; children: readonly Part[] };

/** Undefined if the language is unknown, or the code is too long or too deeply nested. */
export function highlight(code: string, language: string): ReadNode[] | undefined {
  if (code.length > maxLength || !highlighter.getLanguage(language)) return undefined;
  const { _emitter } = highlighter.highlight(code, { language, ignoreIllegals: true });
  return nodesOf((_emitter as unknown as { root: Exclude<Part, string> }).root.children);
}

function nodesOf(parts: readonly Part[], depth = 1): ReadNode[] | undefined {
  if (depth > maxDepth) return undefined;
  const nodes: ReadNode[] = [];
  for (const part of parts) {
    if (typeof part === 'string') {
      nodes.push(part);
      continue;
    }
    const { scope = '', children } = part;
    const inner = nodesOf(children, depth + 1);
    if (!inner) return undefined;
    // Code in another language, such as CSS in HTML, is not an element of its own.
    if (scope.startsWith('language:')) nodes.push(...inner);
    else nodes.push({ name: 'span', children: inner, class: `hl-${scope.split('.', 1)[0]}` });
  }
  return nodes;
}
