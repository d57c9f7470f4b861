/** Leaves no trace: the room goes for everyone, after a question. */
import { useSignal } from '@preact/signals';
import { Dialog } from '../../parts/dialog.tsx';
import { Icon } from '../../parts/icon.tsx';
import type { RoomState } from '../../room/room.ts';
import { t } from '../../words/index.ts';

export function DeleteRoom({ room }: { room: RoomState }) {
  const asking = useSignal(false);
  return (
    <>
      <button
        type="button"
        class="button quiet danger"
        onClick={() => {
          asking.value = true;
        }}
      >
        <Icon name="delete" />
        {t('deleteRoom')}
      </button>
      {asking.value && (
        <Dialog
          title={t('deleteTitle', { code: room.code })}
          onClose={() => {
            asking.value = false;
          }}
        >
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
      )}
    </>
  );
}
