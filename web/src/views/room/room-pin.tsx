/** Says that the room has a PIN, and shows it to users who know it. */
import { useSignal } from '@preact/signals';
import { Icon } from '../../components/icon.tsx';
import { t } from '../../i18n/all-strings.ts';
import type { RoomModel } from '../../room/room.ts';

export function RoomPin({ room }: { room: RoomModel }) {
  /** Until then, the PIN is hidden from people who look at the screen. */
  const isShown = useSignal(false);
  // The phase changes with the PIN.
  const pin = room.phase.value.attempt.room.pin();
  return (
    <div>
      <p class="aside with-icon">
        <Icon name="lock" />
        {t('pinRequired')}
      </p>
      {pin && (
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
      )}
    </div>
  );
}
