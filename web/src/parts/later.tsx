/** Parts that are loaded when they are first shown, so that the first view need not wait for them. */
import { signal } from '@preact/signals';
import type { FunctionComponent } from 'preact';

export function later<P>(load: () => Promise<FunctionComponent<P>>): FunctionComponent<P> {
  const loaded = signal<FunctionComponent<P> | undefined>(undefined);
  let started = false;
  return (props) => {
    if (!started) {
      started = true;
      load().then(
        (part) => {
          loaded.value = part;
        },
        () => {
          // The next time it is shown, it is asked for again.
          started = false;
        },
      );
    }
    const Part = loaded.value;
    return Part ? <Part {...props} /> : null;
  };
}
