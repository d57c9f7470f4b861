/** The current time for countdowns, and a countdown text. */
import { signal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { roughTime, t } from '../i18n/strings.ts';
import { clockOffset, requestLimit } from '../server-connection.ts';

let timer: ReturnType<typeof setInterval> | undefined;
const now = signal(Date.now(), {
  watched: () => (timer = setInterval(tick, 1000)),
  unwatched: () => clearInterval(timer),
});

function tick(): void {
  now.value = Date.now();
}

/** Renders the component again every second. The signal is old when the first component reads it. */
export const useNow = (): number => Math.max(now.value, Date.now());

/** The current time by the server's clock. */
export const useServerNow = (): number => useNow() - clockOffset.value;

/** A message with the time left until a moment. Screen readers announce it once, not every second. */
export function Countdown({ until, format }: { until: number; format: (ms: number) => string }) {
  const left = until - useNow();
  const announced = useMemo(() => format(left), [until]);
  return (
    <>
      <span class="visually-hidden">{announced}</span>
      <span aria-hidden="true">{format(left)}</span>
    </>
  );
}

const shownBelow = 0.1;

/** Says how many requests are left, when they are about to run out. */
export function RequestsLeft() {
  const now = useNow();
  const { limit = 0, remaining: n = 0, resetAt } = requestLimit.value ?? {};
  const ms = (resetAt?.getTime() ?? 0) - now;
  if (n === 0 || n > limit * shownBelow || ms <= 0) return null;
  return <p class="aside requests-left">{t('requestsLeft', { n, time: roughTime(ms) })}</p>;
}
