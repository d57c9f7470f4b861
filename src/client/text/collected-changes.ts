/** Changes that follow each other, composed when they are needed. */
import type { Changes } from '../../text/changes.ts';

/**
 * Composing takes time for all that both sides changed, so adding one after the other to a single change would take
 * ever longer. Blocks of equal size are composed instead, so that each change is composed only a few times.
 */
export class CollectedChanges {
  readonly #blocks: { changes: Changes; size: number }[] = [];

  add(changes: Changes): void {
    this.#blocks.push({ changes, size: 1 });
    while (this.#hasEqualLast()) this.#joinLast();
  }

  /** All of them as one; undefined when there are none. */
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
