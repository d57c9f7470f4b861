/** The page of a room, in each of its phases. */
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { RoomCode } from '../../../../src/protocol/room-code.ts';
import { Countdown } from '../../components/countdown.tsx';
import { Icon } from '../../components/icon.tsx';
import { lazy } from '../../components/lazy.tsx';
import { dismissUndoNotices, notify } from '../../components/notices.tsx';
import { takeKeyFromAddress } from '../../device/room-keys.ts';
import { errorMessage } from '../../i18n/error-message.ts';
import { roughTime } from '../../i18n/quantities.ts';
import { t } from '../../i18n/strings.ts';
import { openRoom } from '../../room/room-model.ts';
import type { PhaseNamed, RoomModel } from '../../room/room-phase.ts';
import { MessagePage } from '../message-page.tsx';
import { isConnectionLost, RetryCountdown, type WaitingConnection } from './alerts.tsx';
import { RoomSkeleton } from './invitation.tsx';
import { RoomView } from './room-view.tsx';
import '../../style/room.css';
import '../../style/file-list.css';
import '../../style/room-screens.css';

const loadProblem = () => import('../encryption/encryption-problem.tsx');
const EncryptionProblem = lazy(loadProblem, 'EncryptionProblem');
const KeptDraft = lazy(loadProblem, 'KeptDraft');
const KeyPrompt = lazy(() => import('../encryption/key-prompt.tsx'), 'KeyPrompt');
const KeptText = lazy(() => import('./text-actions.tsx'), 'KeptText');
const PinPad = lazy(() => import('./pin-pad.tsx'), 'PinPad');

export function RoomPage({ code }: { code: RoomCode }) {
  const room = useMemo(() => openRoom(code, (error) => notify(errorMessage(error))), [code]);
  useEffect(() => {
    room.join({ key: takeKeyFromAddress(code) });
    // A link to the same room changes only the fragment. It may have the key that the page asks for.
    const onHashChange = () => {
      const key = takeKeyFromAddress(code);
      if (key && room.phase.peek().name !== 'joined') room.join({ key });
    };
    addEventListener('hashchange', onHashChange);
    return () => {
      removeEventListener('hashchange', onHashChange);
      dismissUndoNotices();
      room.leave();
    };
  }, [room]);
  return <View room={room} />;
}

function View({ room }: { room: RoomModel }) {
  const phase = room.phase.value;
  switch (phase.name) {
    case 'pin-required':
    case 'pin-checking':
      return <Secret room={room} phase={phase} />;
    case 'joined':
      return <RoomView room={room} text={phase.text} />;
    case 'failed':
      if (/^(ROLLBACK|FORK|DATA_DAMAGED|NOT_ENCRYPTED)$/.test(phase.error.code))
        return <EncryptionProblem room={room} phase={phase} />;
      return <MessagePage title={errorMessage(phase.error)} action={<RetryButton room={room} />} />;
    case 'gone':
      return <RoomGone code={room.code} phase={phase} />;
    default:
      return <Joining room={room} />;
  }
}

function Secret({ room, phase }: { room: RoomModel; phase: PhaseNamed<'pin-required' | 'pin-checking'> }) {
  const Prompt = phase.prompt.code.startsWith('KEY_') ? KeyPrompt : PinPad;
  return <Prompt room={room} prompt={phase.prompt} isChecking={phase.name === 'pin-checking'} />;
}

const goneMessages = {
  deleted: ['delete', 'roomDeleted', 'roomDeletedHint'],
  'deleted-here': ['check', 'roomDeleted', 'roomDeletedHint'],
  expired: ['clock', 'roomExpired', 'roomExpiredHint'],
  'not-found': ['warning', 'roomNotFound', 'roomNotFoundHint'],
} as const;

function RoomGone({ code, phase }: { code: RoomCode; phase: PhaseNamed<'gone'> }) {
  const [icon, title, hint] = goneMessages[phase.reason];
  return (
    <MessagePage icon={icon} title={t(title, { code })} extra={<TextOfGone code={code} phase={phase} />}>
      {t(hint)}
    </MessagePage>
  );
}

function TextOfGone({
  code,
  phase: { reason, text, content, attempt },
}: {
  code: RoomCode;
  phase: PhaseNamed<'gone'>;
}) {
  const { key } = attempt.room;
  if (reason === 'deleted-here') return null;
  if (!content) return key && <KeptDraft code={code} roomKey={key} />;
  return text?.shared.value && <KeptText code={code} text={text.shared.value} />;
}

/** Usually too short to be seen. If joining takes longer, the page says why: no connection, or a limit. */
function Joining({ room }: { room: RoomModel }) {
  const { connection } = room.phase.value;
  // Keep the message during the next attempt, so that the button in it does not lose the focus.
  const waiting = useRef<WaitingConnection>(undefined);
  if (connection.type === 'waiting') waiting.current = connection;
  const joining = t('joining', { code: room.code });
  if (!waiting.current) return <RoomSkeleton code={room.code} />;
  const { until } = waiting.current;
  const isOffline = isConnectionLost(waiting.current);
  const countdown = isOffline && (
    <Countdown until={until.getTime()} format={(ms) => t('retryingIn', { time: roughTime(ms) })} />
  );
  return (
    <MessagePage
      icon={isOffline ? 'offline' : 'clock'}
      title={isOffline ? t('cannotReachServer') : <RetryCountdown connection={waiting.current} />}
      action={<RetryButton room={room} />}
    >
      {connection.type === 'waiting' ? countdown : joining}
    </MessagePage>
  );
}

function RetryButton({ room }: { room: RoomModel }) {
  return (
    <button type="button" class="button primary" onClick={() => room.join()}>
      <Icon name="retry" />
      {t('tryAgain')}
    </button>
  );
}
