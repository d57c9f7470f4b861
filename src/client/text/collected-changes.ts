/** Collects consecutive changes, and composes them on demand. */
import type { Changes } from '../../text/changes.ts';

/**
 * The cost of composing grows with both sides, so adding to one ever-growing change would become slow. Composing blocks
 * of equal size instead involves each change only a few times.
 */
export class CollectedChanges {
  readonly #blocks: { changes: Changes; size: number }[] = [];

  add(changes: Changes): void {
    this.#blocks.push({ changes, size: 1 });
    while (this.#hasEqualLast()) this.#joinLast();
  }

  /** Returns all changes as one; undefined if there are none. */
  compose(): Changes | undefined {
    while (this.#blocks.length > 1) this.#joinLast();
    return this.#blocks[0]?.changes;
  }

  #hasEqualLast(): boolean {
    const [before, last] = this.#blocks.slice(-2);
    return last !== undefined && last.size >= (before?.size ?? 0);
  }

  #joinLast(): void {
    const [last, before] = [this.#blocks.pop(), this.#blocks.pop()];
    if (!last || !before) return;
    this.#blocks.push({ changes: before.changes.compose(last.changes), size: before.size + last.size });
  }
}
