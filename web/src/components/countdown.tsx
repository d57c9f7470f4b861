/** The current time for countdowns, and a countdown text. */
import { signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { clockOffset } from '../device/clock.ts';
import { roughTime } from '../i18n/quantities.ts';
import { t } from '../i18n/strings.ts';
import { requestLimit } from '../room/request-limit.ts';

const now = signal(Date.now());
let watchers = 0;
let timer: ReturnType<typeof setInterval> | undefined;

/** Renders the component again every second. */
export function useNow(): number {
  useEffect(() => {
    now.value = Date.now();
    if (watchers++ === 0) timer = setInterval(() => (now.value = Date.now()), 1000);
    return () => {
      if (--watchers === 0) clearInterval(timer);
    };
  }, []);
  // Reading the signal subscribes to the next tick. Its value may be old when the first component subscribes.
  return Math.max(now.value, Date.now());
}

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
