/** How far this device's clock is ahead of the server's, by which rooms end. */
import { signal } from '@preact/signals';

export const clockAhead = signal(0);

/** Asked of the server once, at an address that costs nothing of the limit. */
export async function compareClocks(): Promise<void> {
  const told = await fetch('/livez', { method: 'HEAD' }).then(
    ({ headers }) => Date.parse(headers.get('Date') ?? ''),
    () => Number.NaN,
  );
  const ahead = Date.now() - told;
  // It is told in whole seconds, and takes its time: what is nearly the same is the same.
  if (Math.abs(ahead) > 5_000) clockAhead.value = ahead;
}
