/** A queue that is filled by callbacks and read by an async iterator. */

export interface AsyncQueue<T> extends AsyncIterable<T> {
  /** Total size of the queued items. */
  readonly size: number;
  push(item: T, size: number): void;
  /** The iterator ends after the queued items. */
  end(): void;
}

export function createAsyncQueue<T>(): AsyncQueue<T> {
  const items: { item: T; size: number }[] = [];
  let size = 0;
  let isEnded = false;
  let notifyReader = () => {};

  return {
    get size() {
      return size;
    },

    push(item, itemSize) {
      items.push({ item, size: itemSize });
      size += itemSize;
      notifyReader();
    },

    end() {
      isEnded = true;
      notifyReader();
    },

    async *[Symbol.asyncIterator]() {
      while (true) {
        for (let next = items.shift(); next; next = items.shift()) {
          size -= next.size;
          yield next.item;
        }
        if (isEnded) return;
        await new Promise<void>((resolve) => {
          notifyReader = resolve;
        });
      }
    },
  };
}
