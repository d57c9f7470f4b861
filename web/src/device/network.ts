/** Whether the browser reports a network connection. */
import { signal } from '@preact/signals';

export const hasNetwork = signal(navigator.onLine);

for (const type of ['online', 'offline'] as const) {
  addEventListener(type, () => {
    hasNetwork.value = navigator.onLine;
  });
}
