/** Asks before the user leaves a view, closes the tab or reloads it. */
import { type Signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { blockLeaving } from '../router.ts';
import { listen } from './listen.ts';

/** While it is needed, the signal has a function that leaves, once the user wants to. Undefined closes the question. */
export function useLeaveQuestion(isNeeded: boolean): Signal<(() => void) | undefined> {
  const proceed = useSignal<(() => void) | undefined>(undefined);
  useEffect(() => {
    if (!isNeeded) return;
    const stop = listen('beforeunload', (event) => event.preventDefault());
    const unblock = blockLeaving((leave) => (proceed.value = leave));
    return () => {
      unblock();
      stop();
    };
  }, [isNeeded]);
  return proceed;
}
