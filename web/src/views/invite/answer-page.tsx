/** Asks for the room that another screen is invited into. */
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { type Invitation, parseInvitation } from '../../../../src/client/crypto/invitation.ts';
import { useServerNow } from '../../components/countdown.tsx';
import { recentRooms } from '../../device/recent-rooms.ts';
import { t } from '../../i18n/all-strings.ts';
import { errorMessage } from '../../i18n/error-message.ts';
import { type Answer, openAnswerTo } from '../../invite/answer.ts';
import type { AnswerState } from '../../invite/answer-state.ts';
import { goHome, goToRoom } from '../../router.ts';
import { RecentRooms } from '../home/recent-room-list.tsx';
import { StartForm } from '../home/start-form.tsx';
import { MessagePage } from '../message-page.tsx';

export function AnswerPage({ fragment }: { fragment: string }) {
  const invitation = useMemo(() => parseInvitation(fragment), [fragment]);
  if (!invitation) return <MessagePage title={t('answerDamaged')}>{t('answerInvalidHint')}</MessagePage>;
  return <AnswerTo invitation={invitation} />;
}

function AnswerTo({ invitation }: { invitation: Invitation }) {
  const answer = useMemo(() => openAnswerTo(invitation), [invitation]);
  useEffect(() => answer.close, [answer]);
  const state = answer.state.value;
  switch (state.name) {
    case 'sending':
    case 'sent':
      return (
        <MessagePage key="waiting" icon="clock" title={t('waitingForScreen')}>
          <span role="status">{state.name === 'sent' && state.isOffline && t('cannotReachServer')}</span>
        </MessagePage>
      );
    case 'accepted':
      return <Accepted code={state.code} />;
    case 'invalid':
      return (
        <MessagePage key="invalid" title={t('answerInvalid')}>
          {t('answerInvalidHint')}
        </MessagePage>
      );
    default:
      return <RoomChoice answer={answer} state={state} />;
  }
}

function Accepted({ code }: { code: string }) {
  const open = (
    <button type="button" class="button primary" onClick={() => goToRoom(code)}>
      {t('openHere')}
    </button>
  );
  return <MessagePage key="accepted" icon="check" title={t('answerAccepted', { code })} action={open} />;
}

function RoomChoice({ answer, state }: { answer: Answer; state: AnswerState }) {
  const heading = useRef<HTMLHeadingElement>(null);
  const now = useServerNow();
  const hasRooms = recentRooms.value.some(({ expiresAt }) => expiresAt > now);
  useLayoutEffect(() => heading.current?.focus(), []);
  const error = state.name === 'choosing' ? state.error : undefined;
  return (
    <div class="home">
      <h1 ref={heading} tabIndex={-1}>
        {t('answerTitle')}
      </h1>
      <p>{t('answerHint')}</p>
      <p class="problem" role="alert">
        {error && errorMessage(error)}
      </p>
      <RecentRooms onJoin={answer.choose} />
      {!hasRooms && <p class="aside">{t('noRooms')}</p>}
      <div class="home-cards">
        <StartForm onStart={answer.choose} />
      </div>
      <button type="button" class="button quiet" onClick={goHome}>
        {t('cancel')}
      </button>
    </div>
  );
}
