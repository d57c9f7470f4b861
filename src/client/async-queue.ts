/** A queue from callbacks to an async iterator. */

export interface Inbox<T> extends AsyncIterable<T> {
  /** Of all items that wait. */
  readonly size: number;
  put(item: T, size: number): void;
  /** After what is there has been taken, the iterator is done. */
  end(): void;
}

export function createInbox<T>(): Inbox<T> {
  const items: { item: T; size: number }[] = [];
  let size = 0;
  let ended = false;
  let wake = () => {};

  return {
    get size() {
      return size;
    },

    put(item, itemSize) {
      items.push({ item, size: itemSize });
      size += itemSize;
      wake();
    },

    end() {
      ended = true;
      wake();
    },

    async *[Symbol.asyncIterator]() {
      while (true) {
        for (let next = items.shift(); next; next = items.shift()) {
          size -= next.size;
          yield next.item;
        }
        if (ended) return;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}
