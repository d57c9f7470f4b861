/** Picks the first entries of a long list by an order, in bounded memory. */

export interface Page {
  limit: number;
  offset: number;
}

/** Sorts when it has twice as many entries as it keeps. */
export class TopEntries<T> {
  readonly #kept: number;
  readonly #offset: number;
  readonly #compare: (one: T, other: T) => number;
  #entries: T[] = [];
  total = 0;

  constructor({ limit, offset }: Page, compare: (one: T, other: T) => number) {
    this.#kept = limit + offset;
    this.#offset = offset;
    this.#compare = compare;
  }

  add(entry: T): void {
    this.total += 1;
    this.#entries.push(entry);
    if (this.#entries.length >= 2 * this.#kept) this.#trim();
  }

  page(): T[] {
    this.#trim();
    return this.#entries.slice(this.#offset);
  }

  #trim(): void {
    this.#entries.sort(this.#compare).splice(this.#kept);
  }
}
