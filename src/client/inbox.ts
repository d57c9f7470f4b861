/** A queue from callbacks to an async iterator. */

export interface Inbox<T> extends AsyncIterable<T> {
  put(item: T): void;
  /** After what is there has been taken, the iterator is done. */
  end(): void;
}

export function createInbox<T>(): Inbox<T> {
  const items: T[] = [];
  let ended = false;
  let wake = () => {};

  return {
    put(item) {
      items.push(item);
      wake();
    },

    end() {
      ended = true;
      wake();
    },

    async *[Symbol.asyncIterator]() {
      while (true) {
        while (items.length > 0) yield items.shift() as T;
        if (ended) return;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}
