/** Asks whether to leave the room while files are being uploaded. */
import { Dialog } from '../../components/dialog.tsx';
import { t } from '../../i18n/all-strings.ts';

export function LeaveDialog({ onLeave, onClose }: { onLeave: () => void; onClose: () => void }) {
  return (
    <Dialog title={t('leaveTitle')} onClose={onClose}>
      <p>{t('leaveHint')}</p>
      <form method="dialog" class="actions">
        <button type="submit" class="button">
          {t('stay')}
        </button>
        <button type="submit" class="button danger filled" onClick={onLeave}>
          {t('leave')}
        </button>
      </form>
    </Dialog>
  );
}
