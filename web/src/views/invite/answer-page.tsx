/** Asks for the room that another screen is invited into. */
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { type Invitation, parseInvitation, sealAnswer } from '../../../../src/client/crypto/invitation.ts';
import { parseRoomKey, type RoomKey } from '../../../../src/client/crypto/room-key.ts';
import { EncryptionError } from '../../../../src/client/error.ts';
import type { LiveEvent } from '../../../../src/client/live-state.ts';
import type { RoomCode } from '../../../../src/protocol/room-code.ts';
import { Button, Problem } from '../../components/controls.tsx';
import { useServerNow } from '../../components/countdown.tsx';
import { recentRooms, savedPin } from '../../device/recent-rooms.ts';
import { requestKey, savedKey } from '../../device/room-keys.ts';
import { t } from '../../i18n/all-strings.ts';
import { errorMessage } from '../../i18n/error-message.ts';
import { followRoom } from '../../room/room-requests.ts';
import { createStateMachine } from '../../room/state-machine.ts';
import { goHome, goToRoom } from '../../router.ts';
import { toPoproomError } from '../../server-connection.ts';
import { RecentRooms } from '../home/recent-room-list.tsx';
import { StartForm } from '../home/start-form.tsx';
import { MessagePage } from '../message-page.tsx';
import { type AnswerEvent, type AnswerState, answerTransitions } from './answer-state.ts';
import { openMeetingRoom, textIn } from './meeting.ts';

export function AnswerPage({ fragment }: { fragment: string }) {
  const invitation = useMemo(() => parseInvitation(fragment), [fragment]);
  if (!invitation) return <MessagePage title={t('answerDamaged')} hint={t('answerInvalidHint')} />;
  return <AnswerTo invitation={invitation} />;
}

function AnswerTo({ invitation }: { invitation: Invitation }) {
  const answer = useMemo(() => openAnswerTo(invitation), [invitation]);
  useEffect(() => answer.close, [answer]);
  const state = answer.state.value;
  switch (state.name) {
    case 'sending':
    case 'sent':
      return <Waiting key="waiting" isOffline={state.name === 'sent' && state.isOffline} />;
    case 'accepted':
      return <Accepted code={state.code} />;
    case 'invalid':
      return <MessagePage key="invalid" title={t('answerInvalid')} hint={t('answerInvalidHint')} />;
    default:
      return <RoomChoice answer={answer} state={state} />;
  }
}

function Waiting({ isOffline }: { isOffline: boolean }) {
  const hint = <span role="status">{isOffline && t('cannotReachServer')}</span>;
  return <MessagePage icon="clock" title={t('waitingForScreen')} hint={hint} />;
}

function Accepted({ code }: { code: string }) {
  const open = <Button class="primary" label={t('openHere')} onClick={() => goToRoom(code)} />;
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
      <Problem>{error && errorMessage(error)}</Problem>
      <RecentRooms onJoin={answer.choose} />
      {!hasRooms && <p class="aside">{t('noRooms')}</p>}
      <div class="home-cards">
        <StartForm onStart={answer.choose} />
      </div>
      <Button class="quiet" label={t('cancel')} onClick={goHome} />
    </div>
  );
}

type Answer = ReturnType<typeof openAnswerTo>;

/** If others overwrite the answer more often than this, it is not written again. */
const maxRewrites = 5;

/** Answers the invitation of a screen: seals a room for it, and waits until the screen has taken it. */
function openAnswerTo(invitation: Invitation) {
  const { state, send } = createStateMachine(answerTransitions, { name: 'choosing', error: undefined }, onTransition);
  const meeting = openMeetingRoom(invitation.meeting);
  /** Closes the live channel of the latest attempt. */
  let aborter = new AbortController();

  function onTransition(before: AnswerState, after: AnswerState): void {
    if (after.name === 'sending') void write(after.code as RoomCode).catch((error) => send(failureOf(error)));
    if (after.name === 'closed' || (before.name === 'sent' && after.name !== 'sent')) aborter.abort();
  }

  async function write(code: RoomCode): Promise<void> {
    aborter = new AbortController();
    const { signal } = aborter;
    const answer = sealAnswer(invitation, { code, pin: savedPin(code), key: await keyOf(code) });
    if (signal.aborted) return;
    await meeting.write(answer, { signal });
    send({ type: 'written' });
    const end = await followRoom(meeting, signal, keepAnswer(answer));
    if (end !== 'left') send({ type: end as 'deleted' | 'expired' });
  }

  /** Writes the answer again if someone else overwrites it before the screen reads it. */
  function keepAnswer(answer: string): (event: LiveEvent) => void {
    let rewrites = 0;
    return (event) => {
      if (event.type === 'waiting' || event.type === 'connected')
        send({ type: 'connection', isOffline: event.type === 'waiting' });
      const text = textIn(event);
      if (text === undefined || text === answer || rewrites++ >= maxRewrites) return;
      // The channel reports if the room has ended.
      meeting.write(answer).catch(() => undefined);
    };
  }

  return { state, choose: (code: string) => send({ type: 'choose', code }), close: () => send({ type: 'close' }) };
}

/** The key of an encrypted room. Undefined if no tab of this browser has it: the screen then asks for it. */
async function keyOf(code: string): Promise<RoomKey | undefined> {
  if (!recentRooms.peek().some((room) => room.code === code && room.isEncrypted)) return undefined;
  try {
    return parseRoomKey(savedKey(code) ?? (await requestKey(code)) ?? '');
  } catch {
    return undefined;
  }
}

function failureOf(cause: unknown): AnswerEvent {
  // The public key in the QR code is not valid.
  if (cause instanceof EncryptionError) return { type: 'expired' };
  const error = toPoproomError(cause);
  if (error.code === 'ROOM_NOT_FOUND') return { type: 'deleted' };
  return error.code === 'ROOM_EXPIRED' ? { type: 'expired' } : { type: 'failed', error };
}
