/** A room's page: at the door, inside, or after its end. */
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { PoproomError, RoomCode } from '../../../../src/client/index.ts';
import { Icon } from '../../components/icon.tsx';
import { lazy } from '../../components/lazy.tsx';
import { dropUndo } from '../../components/notices.tsx';
import { Countdown } from '../../components/ticking.tsx';
import { t } from '../../i18n/index.ts';
import { problemText } from '../../i18n/problem.ts';
import { roughTime } from '../../i18n/quantities.ts';
import { type Link, openRoom, type RoomState } from '../../room/room.ts';
import { Outside } from '../outside.tsx';
import { Waiting } from './alerts.tsx';

const loadInside = async () => (await import('./inside.tsx')).Inside;
const Inside = lazy(loadInside);
const PinPad = lazy(async () => (await import('./pin-pad.tsx')).PinPad);

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
