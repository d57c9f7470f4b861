/** Leaves no trace: the room goes for everyone, after a question. */
import { useSignal } from '@preact/signals';
import { Icon } from '../../components/icon.tsx';
import { lazy } from '../../components/lazy.tsx';
import { t } from '../../i18n/index.ts';
import type { RoomState } from '../../room/room.ts';

const DeleteDialog = lazy(async () => (await import('./delete-dialog.tsx')).DeleteDialog);

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
        <DeleteDialog
          room={room}
          onClose={() => {
            asking.value = false;
          }}
        />
      )}
    </>
  );
}
