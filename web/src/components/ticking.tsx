/** The time, for everything that counts down. */
import { signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { clockAhead } from '../device/clock.ts';

const now = signal(Date.now());
let watchers = 0;
let timer: ReturnType<typeof setInterval> | undefined;

/** Makes the component follow the clock, second by second. */
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
  // Read for the sake of the next tick; the first look may come long after the last one.
  return Math.max(now.value, Date.now());
}

/** By the server's clock. */
export const useServerNow = (): number => useNow() - clockAhead.value;

/** A sentence with the time that is left until a moment. It is read out once, not every second. */
export function Countdown({ until, words }: { until: number; words: (ms: number) => string }) {
  const left = until - useNow();
  const atFirst = useMemo(() => words(left), [until]);
  return (
    <>
      <span class="out-of-sight">{atFirst}</span>
      <span aria-hidden="true">{words(left)}</span>
    </>
  );
}
