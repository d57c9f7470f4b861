/** The rooms that this device was in, to go back to or to forget. */
import { useEffect } from 'preact/hooks';
import { goToRoom } from '../../address.ts';
import { Icon } from '../../components/icon.tsx';
import { notify } from '../../components/notices.tsx';
import { useServerNow } from '../../components/ticking.tsx';
import { forget, type RecentRoom, recentRooms, rereadRooms } from '../../device/recent-rooms.ts';
import { t } from '../../i18n/index.ts';
import { roughTime } from '../../i18n/quantities.ts';

export function RecentRooms({ onJoin = goToRoom }: { onJoin?: (code: string) => void }) {
  const now = useServerNow();
  const rooms = recentRooms.value.filter(({ expiresAt }) => expiresAt > now);
  // At first, and when the time of one is over.
  useEffect(() => void rereadRooms(), [rooms.length]);
  if (rooms.length === 0) return null;
  return (
    <section class="recent">
      <h2>{t('recentRooms')}</h2>
      <ul>
        {rooms.map((room) => (
          <Row key={room.code} room={room} now={now} onJoin={onJoin} />
        ))}
      </ul>
    </section>
  );
}

function Row({ room, now, onJoin }: { room: RecentRoom; now: number; onJoin: (code: string) => void }) {
  const { code, expiresAt, hasPin } = room;

  function forgetRoom() {
    notify(t('forgotten', { code }), forget(code));
  }

  return (
    <li>
      <button type="button" class="recent-room" onClick={() => onJoin(code)}>
        <b>{code}</b>
        {hasPin && <Icon name="lock" />}
        <span>{t('timeLeft', { time: roughTime(expiresAt - now) })}</span>
      </button>
      <button
        type="button"
        class="button round"
        onClick={forgetRoom}
        aria-label={t('forget', { code })}
        title={t('forget', { code })}
      >
        <Icon name="close" />
      </button>
    </li>
  );
}
