/** The PIN of the room, for users who know it already. */
import { useSignal } from '@preact/signals';
import { t } from '../../i18n/index.ts';
import type { RoomModel } from '../../room/room.ts';

/** The PIN, hidden from people who look at the screen until the user shows it. Nothing if this device does not know it. */
export function RoomPin({ room }: { room: RoomModel }) {
  const isShown = useSignal(false);
  const pin = room.content.value.hasPin && room.phase.value.attempt.room.pin();
  if (!pin) return null;
  return (
    <p class="aside room-pin">
      {t('pin')}: <b dir="ltr">{isShown.value ? pin : '••••'}</b>
      <button
        type="button"
        class="button quiet"
        onClick={() => {
          isShown.value = !isShown.value;
        }}
      >
        {t(isShown.value ? 'hidePin' : 'showPin')}
      </button>
    </p>
  );
}
