/** The current time for countdowns, and a countdown text. */
import { signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { clockOffset } from '../device/clock.ts';

const now = signal(Date.now());
let watchers = 0;
let timer: ReturnType<typeof setInterval> | undefined;

/** Renders the component again every second. */
export function useNow(): number {
  useEffect(() => {
    now.value = Date.now();
    if (watchers++ === 0) {
      timer = setInterval(() => {
        now.value = Date.now();
      }, 1000);
    }
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
