/** Asks whether the room shall really go. */
import { Dialog } from '../../components/dialog.tsx';
import { t } from '../../i18n/index.ts';
import type { RoomState } from '../../room/room.ts';

export function DeleteDialog({ room, onClose }: { room: RoomState; onClose: () => void }) {
  return (
    <Dialog title={t('deleteTitle', { code: room.code })} onClose={onClose}>
      <p>{t('deleteHint')}</p>
      <form method="dialog" class="actions">
        <button type="submit" class="button">
          {t('keep')}
        </button>
        <button type="submit" class="button danger filled" onClick={() => void room.delete()}>
          {t('deleteForGood')}
        </button>
      </form>
    </Dialog>
  );
}
