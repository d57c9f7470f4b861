/** A room's page: at the door, inside, or after its end. */
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { PoproomError, RoomCode } from '../../../../src/client/index.ts';
import { Icon } from '../../parts/icon.tsx';
import { later } from '../../parts/later.tsx';
import { dropUndo } from '../../parts/notices.tsx';
import { Countdown } from '../../parts/ticking.tsx';
import { type Link, openRoom, type RoomState } from '../../room/room.ts';
import { t } from '../../words/index.ts';
import { problemText } from '../../words/problem.ts';
import { roughTime } from '../../words/quantities.ts';
import { Outside } from '../outside.tsx';
import { Waiting } from './alerts.tsx';

const loadInside = async () => (await import('./inside.tsx')).Inside;
const Inside = later(loadInside);
const PinPad = later(async () => (await import('./pin-pad.tsx')).PinPad);

export function RoomPage({ code }: { code: RoomCode }) {
  const room = useMemo(() => openRoom(code), [code]);
  useEffect(() => {
    room.enter();
    // Loaded while the room is entered; a failure is told where it is shown.
    loadInside().catch(() => undefined);
    return () => {
      dropUndo();
      room.leave();
    };
  }, [room]);
  return <View room={room} />;
}

function View({ room }: { room: RoomState }) {
  const standing = room.standing.value;
  switch (standing.at) {
    case 'entering':
      return <Entering room={room} />;
    case 'inside':
      return <Inside room={room} text={standing.text} />;
    case 'pin':
      return <PinPad room={room} asked={standing.asked} />;
    case 'over':
      return standing.why === 'deleted' ? (
        <Outside icon="check" title={t('roomDeleted')}>
          {t('roomDeletedHint')}
        </Outside>
      ) : (
        <Outside icon="clock" title={t('roomExpired')}>
          {t('roomExpiredHint')}
        </Outside>
      );
    case 'outside':
      return <Refused room={room} error={standing.error} />;
  }
}

/** Usually over before it is seen. What takes longer is explained: no connection, or a limit. */
function Entering({ room }: { room: RoomState }) {
  const link = room.link.value;
  // Stays while it is tried again, with the focus that is in it.
  const waiting = useRef<Extract<Link, { is: 'waiting' }>>(undefined);
  if (link.is === 'waiting') waiting.current = link;
  const entering = t('entering', { code: room.code });
  if (!waiting.current) return <p class="entering">{entering}</p>;
  const { error, until } = waiting.current;
  const offline = error.code === 'OFFLINE';
  const countdown = offline && (
    <Countdown until={until.getTime()} words={(ms) => t('triesAgainIn', { time: roughTime(ms) })} />
  );
  return (
    <Outside
      icon={offline ? 'offline' : 'clock'}
      title={offline ? t('cannotReach') : <Waiting link={waiting.current} />}
      action={<Again room={room} />}
    >
      {link.is === 'waiting' ? countdown : entering}
    </Outside>
  );
}

function Refused({ room, error }: { room: RoomState; error: PoproomError }) {
  if (error.code === 'ROOM_NOT_FOUND')
    return <Outside title={t('noSuchRoom', { code: room.code })}>{t('noSuchRoomHint')}</Outside>;
  return <Outside title={problemText(error)} action={<Again room={room} />} />;
}

function Again({ room }: { room: RoomState }) {
  return (
    <button type="button" class="button primary" onClick={() => room.enter()}>
      <Icon name="retry" />
      {t('tryAgain')}
    </button>
  );
}
