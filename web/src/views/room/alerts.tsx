/** What someone in the room must know at once: a lost connection, a limit, someone trying PINs. */
import { Icon } from '../../parts/icon.tsx';
import { useNow } from '../../parts/ticking.ts';
import type { RoomState } from '../../room/room.ts';
import { t } from '../../words/index.ts';
import { problemText } from '../../words/problem.ts';
import { roughTime } from '../../words/quantities.ts';

export function Alerts({ room }: { room: RoomState }) {
  return (
    <div class="alerts" role="status">
      <Interruption room={room} />
      <PinAttempts room={room} />
    </div>
  );
}

function Interruption({ room }: { room: RoomState }) {
  const now = useNow();
  const link = room.link.value;
  if (link.is !== 'waiting') return null;
  const offline = link.error.code === 'OFFLINE';
  return (
    <p class="alert">
      <Icon name={offline ? 'offline' : 'clock'} />
      <span>
        {offline ? t('interrupted') : problemText(link.error)}{' '}
        {!offline && t('triesAgainIn', { time: roughTime(link.until.getTime() - now) })}
      </span>
    </p>
  );
}

function PinAttempts({ room }: { room: RoomState }) {
  const n = room.pinAttempts.value;
  if (n === 0) return null;
  return (
    <p class="alert warning">
      <Icon name="warning" />
      <span>{t('pinAttempts', { n })}</span>
      <button
        type="button"
        class="button round"
        aria-label={t('close')}
        onClick={() => {
          room.pinAttempts.value = 0;
        }}
      >
        <Icon name="close" />
      </button>
    </p>
  );
}
