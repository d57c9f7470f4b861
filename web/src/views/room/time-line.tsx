/** How long the room still lives: a line that grows shorter, and a clock. */
import { useServerNow } from '../../components/ticking.tsx';
import { t } from '../../i18n/index.ts';
import { clockTime } from '../../i18n/quantities.ts';
import type { RoomState } from '../../room/room.ts';

const soonMs = 5 * 60_000;

export function TimeLine({ room }: { room: RoomState }) {
  const now = useServerNow();
  const left = Math.max(0, room.expiresAt.value - now);
  // When the room was made is not told: the line is full when this device comes in for the first time.
  const whole = Math.max(1, room.expiresAt.value - room.since.value);
  return (
    <div class="time-line" data-soon={left < soonMs || undefined}>
      <p>
        <span>{t('goneIn')}</span> <time>{clockTime(left)}</time>
      </p>
      <svg viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
        <rect width={Math.min(100, (left / whole) * 100)} height="1" />
      </svg>
    </div>
  );
}
