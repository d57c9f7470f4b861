/** Notifies listeners of events. All listeners receive an event before the next one. */

type Arguments<L> = L extends (...args: infer A) => void ? A : never;

export interface Emitter<E> {
  /** Returns a function that removes the listener. */
  on<K extends keyof E>(event: K, listener: E[K]): () => void;
  emit<K extends keyof E>(event: K, ...args: Arguments<E[K]>): void;
}

export function createEmitter<E>(): Emitter<E> {
  const entries = new Set<{ event: keyof E; listener: unknown }>();
  const queue: (() => void)[] = [];
  let isDraining = false;

  /** An event that a listener emits waits until all listeners have received the current one. */
  function drain(): void {
    if (isDraining) return;
    isDraining = true;
    for (let next = queue.shift(); next; next = queue.shift()) callSafely(next);
    isDraining = false;
  }

  return {
    on(event, listener) {
      const entry = { event, listener };
      entries.add(entry);
      return () => entries.delete(entry);
    },

    emit(event, ...args) {
      for (const entry of entries) {
        if (entry.event !== event) continue;
        const listener = entry.listener as (...args: Arguments<E[typeof event]>) => void;
        queue.push(() => {
          if (entries.has(entry)) listener(...args);
        });
      }
      drain();
    },
  };
}

/** Reports the error of a listener as uncaught, without interrupting the text. */
function callSafely(call: () => void): void {
  try {
    call();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
