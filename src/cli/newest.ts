/** The newest of what comes, for someone who is busy now and then: what it replaces is forgotten. */

export interface Newest<T> {
  put(item: T): void;
  /** Nothing more will come. */
  end(): void;
  readonly hasEnded: boolean;
  /** As soon as there is one; undefined when all is over, or the time is. */
  take(withinMs?: number): Promise<T | undefined>;
}

export function createNewest<T>(): Newest<T> {
  let item: T | undefined;
  let hasEnded = false;
  let wake = () => {};

  return {
    put(newer) {
      item = newer;
      wake();
    },
    end() {
      hasEnded = true;
      wake();
    },
    get hasEnded() {
      return hasEnded;
    },
    async take(withinMs) {
      if (item === undefined && !hasEnded) {
        const { promise, resolve } = Promise.withResolvers<void>();
        wake = resolve;
        const timer = withinMs === undefined ? undefined : setTimeout(resolve, withinMs);
        await promise;
        clearTimeout(timer);
      }
      const taken = item;
      item = undefined;
      return taken;
    },
  };
}
