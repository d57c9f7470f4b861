/** Counts what arrives while the page is hidden, for the tab title. */
import { type ReadonlySignal, signal } from '@preact/signals';

const count = signal(0);

export const unseenCount: ReadonlySignal<number> = count;

export function countIfHidden(arrivals: number): void {
  if (document.visibilityState === 'hidden') count.value += arrivals;
}

document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible') count.value = 0;
});
