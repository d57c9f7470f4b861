/** Asks before the user leaves the room while files are being uploaded. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { lazy } from '../../components/lazy.tsx';
import type { Uploads } from '../../room/uploads.ts';
import { blockLeaving } from '../../router.ts';

const loadDialog = () => import('./dialogs.ts');
const LeaveDialog = lazy(loadDialog, 'LeaveDialog');

export function LeaveGuard({ uploads }: { uploads: Uploads }) {
  const proceed = useSignal<(() => void) | undefined>(undefined);
  const isNeeded = uploads.areUnfinished.value;
  useEffect(() => {
    if (!isNeeded) return;
    // The connection may be lost by the time that the dialog is needed.
    loadDialog().catch(() => undefined);
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

  const leave = proceed.value;
  return (
    leave && (
      <LeaveDialog
        onLeave={leave}
        onClose={() => {
          proceed.value = undefined;
        }}
      />
    )
  );
}
