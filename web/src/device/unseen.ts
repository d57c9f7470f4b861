/** Counts what arrives while the page is hidden, for the tab title. */
import { signal } from '@preact/signals';

export const unseenCount = signal(0);

export function countIfHidden(arrivals: number): void {
  if (document.visibilityState === 'hidden') unseenCount.value += arrivals;
}

document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible') unseenCount.value = 0;
});
