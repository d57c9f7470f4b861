/** Asks before the user leaves a view, closes the tab or reloads it. */
import { type Signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { blockLeaving } from '../router.ts';

/** While it is needed, the signal has a function that leaves, once the user wants to. Undefined closes the question. */
export function useLeaveQuestion(isNeeded: boolean): Signal<(() => void) | undefined> {
  const proceed = useSignal<(() => void) | undefined>(undefined);
  useEffect(() => {
    if (!isNeeded) return;
    const onBeforeUnload = (event: Event) => event.preventDefault();
    addEventListener('beforeunload', onBeforeUnload);
    const unblock = blockLeaving((leave) => {
      proceed.value = leave;
    });
    return () => {
      unblock();
      removeEventListener('beforeunload', onBeforeUnload);
    };
  }, [isNeeded]);
  return proceed;
}
