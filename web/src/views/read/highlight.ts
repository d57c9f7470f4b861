/** Colours code. Only the worker of the read view loads it, with the first code block that names a language. */
import highlighter from 'highlight.js/lib/common';
import type { ReadElement, ReadNode } from './markdown.ts';

/** The page needs long to show more. */
const maxLength = 30_000;
const maxDepth = 100;

/** Collects what the highlighter finds as a tree instead of HTML. */
class TreeEmitter {
  readonly root: ReadElement = { name: 'span', children: [] };
  readonly #open: ReadElement[] = [this.root];
  depth = 1;

  addText(node: ReadNode): void {
    this.#open.at(-1)?.children.push(node);
  }

  openNode(scope: string): void {
    const element: ReadElement = { name: 'span', children: [], class: `hl-${scope.split('.', 1)[0]}` };
    this.addText(element);
    this.#open.push(element);
    this.#noteDepth(0);
  }

  closeNode(): void {
    if (this.#open.length > 1) this.#open.pop();
  }

  readonly startScope = this.openNode;
  readonly endScope = this.closeNode;

  __addSublanguage({ root, depth }: TreeEmitter): void {
    for (const node of root.children) this.addText(node);
    this.#noteDepth(depth);
  }

  finalize(): void {}

  toHTML(): string {
    return '';
  }

  #noteDepth(further: number): void {
    this.depth = Math.max(this.depth, this.#open.length + further);
  }
}

highlighter.configure({ __emitter: TreeEmitter as never });

/** Undefined if the language is unknown, or the code is too long or too deeply nested. */
export function highlight(code: string, language: string): ReadNode[] | undefined {
  if (code.length > maxLength || !highlighter.getLanguage(language)) return undefined;
  const { _emitter } = highlighter.highlight(code, { language, ignoreIllegals: true });
  const { root, depth } = _emitter as unknown as TreeEmitter;
  return depth > maxDepth ? undefined : root.children;
}
