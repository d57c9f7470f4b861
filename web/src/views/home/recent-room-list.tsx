/** The rooms that this device has joined, to return to or to remove from the list. */
import { useEffect } from 'preact/hooks';
import { IconButton } from '../../components/controls.tsx';
import { useServerNow } from '../../components/countdown.tsx';
import { Icon } from '../../components/icon.tsx';
import { notify } from '../../components/notices.tsx';
import { forgetRoom, type RecentRoom, recentRooms, reloadRecentRooms } from '../../device/recent-rooms.ts';
import { roughTime, timeLeft } from '../../i18n/quantities.ts';
import { t } from '../../i18n/strings.ts';
import { goToRoom } from '../../router.ts';

export function RecentRooms({ onJoin = goToRoom }: { onJoin?: (code: string) => void }) {
  const now = useServerNow();
  const rooms = recentRooms.value.filter(({ expiresAt }) => expiresAt > now);
  // On the first render, and when a room expires.
  useEffect(() => void reloadRecentRooms(), [rooms.length]);
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
  const { code, expiresAt, hasPin, isEncrypted, name, firstLine, fileCount } = room;
  const onRemove = () => notify(t('recentRoomRemoved', { code }), { undo: forgetRoom(code) });
  return (
    <li>
      <button type="button" class="recent-room" onClick={() => onJoin(code)}>
        <b>{code}</b>
        {(hasPin || isEncrypted) && <Icon name="lock" />}
        {name && <bdi class="recent-name">{name}</bdi>}
        <span>
          {fileCount ? `${t('fileCount', { n: fileCount })} · ` : ''}
          {timeLeft(expiresAt - now, roughTime)}
        </span>
        {firstLine && (
          <small class="recent-text" dir="auto">
            {firstLine}
          </small>
        )}
      </button>
      <IconButton icon="close" label={t('removeRecentRoom', { code })} onClick={onRemove} />
    </li>
  );
}
