/** Wakes one waiting loop. Several calls of `set` before the next `wait` count as one. */

export interface AutoResetEvent {
  set(): void;
  /** Makes `wait` return `closed`, once a pending `set` has been consumed. */
  close(): void;
  wait(withinMs?: number): Promise<'set' | 'timeout' | 'closed'>;
}

export function createAutoResetEvent(): AutoResetEvent {
  let isSet = false;
  let isClosed = false;
  let wake = () => {};

  function take(): 'set' | 'timeout' | 'closed' {
    if (!isSet) return isClosed ? 'closed' : 'timeout';
    isSet = false;
    return 'set';
  }

  return {
    set() {
      isSet = true;
      wake();
    },

    close() {
      isClosed = true;
      wake();
    },

    async wait(withinMs) {
      if (isSet || isClosed) return take();
      const { promise, resolve } = Promise.withResolvers<void>();
      wake = resolve;
      const timer = withinMs === undefined ? undefined : setTimeout(resolve, withinMs);
      await promise;
      clearTimeout(timer);
      return take();
    },
  };
}
