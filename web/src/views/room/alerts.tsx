/** What someone in the room must know at once: a lost connection, a limit, someone trying PINs. */
import { Icon } from '../../components/icon.tsx';
import { Countdown, useNow } from '../../components/ticking.tsx';
import { t } from '../../i18n/index.ts';
import { problemText } from '../../i18n/problem.ts';
import { roughTime } from '../../i18n/quantities.ts';
import { limitedUntil } from '../../room/request-limit.ts';
import type { Link, RoomState } from '../../room/room.ts';

export function Alerts({ room }: { room: RoomState }) {
  return (
    <div class="alerts" role="status">
      <Interruption room={room} />
      {limitedUntil.value !== undefined && <NoFiles until={limitedUntil.value} />}
      <PinAttempts room={room} />
    </div>
  );
}

function Interruption({ room }: { room: RoomState }) {
  const link = room.link.value;
  if (link.is !== 'waiting') return null;
  const offline = link.error.code === 'OFFLINE';
  return (
    <p class="alert">
      <Icon name={offline ? 'offline' : 'clock'} />
      <span>{offline ? t('interrupted') : <Waiting link={link} />}</span>
    </p>
  );
}

/** All requests are used up: the text still works, files have to wait. */
function NoFiles({ until }: { until: number }) {
  if (useNow() >= until) return null;
  return (
    <p class="alert">
      <Icon name="clock" />
      <span>
        <Countdown until={until} words={(ms) => t('limitFiles', { time: roughTime(ms) })} />
      </span>
    </p>
  );
}

/** Why the room is out of reach, and until when. */
export function Waiting({ link }: { link: Extract<Link, { is: 'waiting' }> }) {
  return <Countdown until={link.until.getTime()} words={(ms) => problemText(link.error, ms)} />;
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
