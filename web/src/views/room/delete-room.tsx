/** Leaves no trace: the room goes for everyone, after a question. */
import { useSignal } from '@preact/signals';
import { Dialog } from '../../parts/dialog.tsx';
import { Icon } from '../../parts/icon.tsx';
import type { RoomState } from '../../room/room.ts';
import { t } from '../../words/index.ts';

export function DeleteRoom({ room }: { room: RoomState }) {
  const asking = useSignal(false);
  const close = () => {
    asking.value = false;
  };
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
        <Dialog title={t('deleteTitle', { code: room.code })} onClose={close}>
          <p>{t('deleteHint')}</p>
          <div class="actions">
            <button type="button" class="button" onClick={close}>
              {t('keep')}
            </button>
            <button
              type="button"
              class="button danger filled"
              onClick={() => {
                close();
                void room.delete();
              }}
            >
              {t('deleteForGood')}
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
}
