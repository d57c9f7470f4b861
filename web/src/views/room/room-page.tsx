/** The page of a room in each of its phases: joining, PIN, joined, failed, ended. */
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { PoproomError, RoomCode } from '../../../../src/client/index.ts';
import { Countdown } from '../../components/countdown.tsx';
import { Icon } from '../../components/icon.tsx';
import { lazy } from '../../components/lazy.tsx';
import { dismissUndoNotices } from '../../components/notices.tsx';
import { errorMessage } from '../../i18n/error-message.ts';
import { t } from '../../i18n/index.ts';
import { roughTime } from '../../i18n/quantities.ts';
import { type ConnectionState, openRoom, type RoomState } from '../../room/room.ts';
import { MessagePage } from '../message-page.tsx';
import { RetryCountdown } from './alerts.tsx';

const loadRoomView = async () => (await import('./room-view.tsx')).RoomView;
const RoomView = lazy(loadRoomView);
const PinPad = lazy(async () => (await import('./pin-pad.tsx')).PinPad);

export function RoomPage({ code }: { code: RoomCode }) {
  const room = useMemo(() => openRoom(code), [code]);
  useEffect(() => {
    room.join();
    // Preload the room view while joining. A failure is reported when the view is rendered.
    loadRoomView().catch(() => undefined);
    return () => {
      dismissUndoNotices();
      room.leave();
    };
  }, [room]);
  return <View room={room} />;
}

function View({ room }: { room: RoomState }) {
  const phase = room.phase.value;
  switch (phase.name) {
    case 'joining':
      return <Joining room={room} />;
    case 'joined':
      return <RoomView room={room} text={phase.text} />;
    case 'pin':
      return <PinPad room={room} prompt={phase.prompt} />;
    case 'ended':
      return phase.reason === 'deleted' ? (
        <MessagePage icon="check" title={t('roomDeleted')}>
          {t('roomDeletedHint')}
        </MessagePage>
      ) : (
        <MessagePage icon="clock" title={t('roomExpired')}>
          {t('roomExpiredHint')}
        </MessagePage>
      );
    case 'failed':
      return <JoinFailed room={room} error={phase.error} />;
  }
}

/** Usually too short to be seen. If joining takes longer, the page says why: no connection, or a limit. */
function Joining({ room }: { room: RoomState }) {
  const connection = room.connection.value;
  // Keep the message during the next attempt, so that the button in it does not lose the focus.
  const waiting = useRef<Extract<ConnectionState, { status: 'waiting' }>>(undefined);
  if (connection.status === 'waiting') waiting.current = connection;
  const joining = t('joining', { code: room.code });
  if (!waiting.current) return <p class="joining">{joining}</p>;
  const { error, until } = waiting.current;
  const offline = error.code === 'OFFLINE';
  const countdown = offline && (
    <Countdown until={until.getTime()} format={(ms) => t('retryingIn', { time: roughTime(ms) })} />
  );
  return (
    <MessagePage
      icon={offline ? 'offline' : 'clock'}
      title={offline ? t('cannotReachServer') : <RetryCountdown connection={waiting.current} />}
      action={<RetryButton room={room} />}
    >
      {connection.status === 'waiting' ? countdown : joining}
    </MessagePage>
  );
}

function JoinFailed({ room, error }: { room: RoomState; error: PoproomError }) {
  if (error.code === 'ROOM_NOT_FOUND')
    return <MessagePage title={t('roomNotFound', { code: room.code })}>{t('roomNotFoundHint')}</MessagePage>;
  return <MessagePage title={errorMessage(error)} action={<RetryButton room={room} />} />;
}

function RetryButton({ room }: { room: RoomState }) {
  return (
    <button type="button" class="button primary" onClick={() => room.join()}>
      <Icon name="retry" />
      {t('tryAgain')}
    </button>
  );
}
