/** Tells listeners of events, each event to all of them before the next. */

type Arguments<L> = L extends (...args: infer A) => void ? A : never;

export interface Emitter<E> {
  /** Returns how to stop listening. */
  on<K extends keyof E>(event: K, listener: E[K]): () => void;
  emit<K extends keyof E>(event: K, ...args: Arguments<E[K]>): void;
}

export function createEmitter<E>(): Emitter<E> {
  const entries = new Set<{ event: keyof E; listener: unknown }>();
  const queue: (() => void)[] = [];
  let isDraining = false;

  /** An event that a listener causes waits until all have received the one before. */
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

/** An error of a listener is reported, and must not stop the text half-way. */
function callSafely(call: () => void): void {
  try {
    call();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
