/** The difference between this device's clock and the server's. Rooms expire by the server's clock. */
import { signal } from '@preact/signals';
import { basePath } from '../page-settings.ts';
import { noteLimit } from '../room/request-limit.ts';

/** Milliseconds that this device's clock is ahead of the server's. */
export const clockOffset = signal(0);

/** Reads the server's time once, from an endpoint that does not count towards the request limit. */
export async function measureClockOffset(): Promise<void> {
  const serverTime = await fetch(`${basePath}/livez`, { method: 'HEAD' }).then(
    ({ headers }) => {
      noteLimit(headers);
      return Date.parse(headers.get('Date') ?? '');
    },
    () => Number.NaN,
  );
  const ahead = Date.now() - serverTime;
  // The Date header has whole seconds and the request takes time, so ignore small differences.
  if (Math.abs(ahead) > 5_000) clockOffset.value = ahead;
}
