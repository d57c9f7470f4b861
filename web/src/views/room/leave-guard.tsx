/** Asks before the user leaves the room while files are being uploaded. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Dialog } from '../../components/dialog.tsx';
import { t } from '../../i18n/index.ts';
import type { Uploads } from '../../room/uploads.ts';
import { blockLeaving } from '../../router.ts';

export function LeaveGuard({ uploads }: { uploads: Uploads }) {
  const proceed = useSignal<(() => void) | undefined>(undefined);
  const isNeeded = uploads.areUnfinished.value;
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

  const close = () => {
    proceed.value = undefined;
  };
  const leave = proceed.value;
  return (
    leave && (
      <Dialog title={t('leaveTitle')} onClose={close}>
        <p>{t('leaveHint')}</p>
        <form method="dialog" class="actions">
          <button type="submit" class="button">
            {t('stay')}
          </button>
          <button type="submit" class="button danger filled" onClick={leave}>
            {t('leave')}
          </button>
        </form>
      </Dialog>
    )
  );
}
