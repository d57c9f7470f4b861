/** Asks before the user leaves the room while files are being uploaded. */
import { useEffect } from 'preact/hooks';
import { lazy } from '../../components/lazy.tsx';
import { useLeaveQuestion } from '../../components/leave-question.ts';
import type { Uploads } from '../../room/uploads.ts';

const loadDialog = () => import('./dialogs.ts');
const LeaveDialog = lazy(loadDialog, 'LeaveDialog');

export function LeaveGuard({ uploads }: { uploads: Uploads }) {
  const isNeeded = uploads.areUnfinished.value;
  const proceed = useLeaveQuestion(isNeeded);
  useEffect(() => {
    // The connection may be lost by the time that the dialog is needed.
    if (isNeeded) loadDialog().catch(() => undefined);
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
