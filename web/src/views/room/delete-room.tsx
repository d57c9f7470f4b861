/** The button that deletes the room for everyone, after a confirmation. */
import { useSignal } from '@preact/signals';
import { Icon } from '../../components/icon.tsx';
import { lazy } from '../../components/lazy.tsx';
import { t } from '../../i18n/strings.ts';
import type { RoomModel } from '../../room/room.ts';

const DeleteDialog = lazy(() => import('./dialogs.ts'), 'DeleteDialog');

export function DeleteRoom({ room }: { room: RoomModel }) {
  const isConfirming = useSignal(false);
  return (
    <>
      <button
        type="button"
        class="button quiet danger"
        onClick={() => {
          isConfirming.value = true;
        }}
      >
        <Icon name="delete" />
        {t('deleteRoom')}
      </button>
      {isConfirming.value && (
        <DeleteDialog
          room={room}
          onClose={() => {
            isConfirming.value = false;
          }}
        />
      )}
    </>
  );
}
