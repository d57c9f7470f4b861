/** Asks for confirmation before the room is deleted. */
import { Dialog } from '../../components/dialog.tsx';
import { t } from '../../i18n/all-strings.ts';
import type { RoomModel } from '../../room/room.ts';

export function DeleteDialog({ room, onClose }: { room: RoomModel; onClose: () => void }) {
  return (
    <Dialog title={t('deleteRoomTitle', { code: room.code })} onClose={onClose}>
      <p>{t('deleteRoomHint')}</p>
      <form method="dialog" class="actions">
        <button type="submit" class="button">
          {t('cancel')}
        </button>
        <button type="submit" class="button danger filled" onClick={() => void room.delete()}>
          {t('delete')}
        </button>
      </form>
    </Dialog>
  );
}
