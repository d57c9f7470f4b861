/** Whether the screen is wide enough for a column beside the text. */
import { type ReadonlySignal, signal } from '@preact/signals';

/** Keep in sync with room-screens.css. */
const query = matchMedia('(min-width: 58rem)');
const isWide = signal(query.matches);

export const isWideScreen: ReadonlySignal<boolean> = isWide;

query.addEventListener('change', ({ matches }) => {
  isWide.value = matches;
});
