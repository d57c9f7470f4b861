/** The difference between this device's clock and the server's. Rooms expire by the server's clock. */
import { signal } from '@preact/signals';

/** Milliseconds that this device's clock is ahead of the server's. */
export const clockOffset = signal(0);

/** Compares the clocks, by the headers of a response. */
export function measureClockOffset(headers: Headers | undefined): void {
  const ahead = Date.now() - Date.parse(headers?.get('Date') ?? '');
  // The Date header has whole seconds and the request takes time, so ignore small differences.
  if (Math.abs(ahead) > 5_000) clockOffset.value = ahead;
}
