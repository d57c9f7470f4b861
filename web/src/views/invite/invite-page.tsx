/** The page at /invite: with an invitation in its fragment it answers it, otherwise it shows one as a QR code. */
import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import {
  createInvitationSecret,
  formatInvitation,
  type Invitation,
  openAnswer,
  parseInvitation,
  sealAnswer,
} from '../../../../src/client/crypto/invitation.ts';
import { parseRoomKey, type RoomKey } from '../../../../src/client/crypto/room-key.ts';
import { EncryptionError } from '../../../../src/client/error.ts';
import type { Ended } from '../../../../src/client/live-state.ts';
import type { RoomBase } from '../../../../src/client/room.ts';
import { createRoomPin, requestRoom } from '../../../../src/client/room-access.ts';
import type { RoomCode } from '../../../../src/protocol/room-code.ts';
import { Button, Icon, Problem } from '../../components/controls.tsx';
import { Countdown, useServerNow } from '../../components/countdown.tsx';
import { takeFocus } from '../../components/keep-focus.ts';
import { listen } from '../../components/listen.ts';
import { QrCode } from '../../components/qr-code.tsx';
import { recentRooms, requestKey, savedKey, savedPin, saveNewKey, savePin } from '../../device/recent-rooms.ts';
import { showText } from '../../device/text-view.ts';
import { t } from '../../i18n/all-strings.ts';
import { errorMessage, timeLeft } from '../../i18n/strings.ts';
import { basePath, limits } from '../../page-settings.ts';
import { followRoom, openRequests } from '../../room/room-requests.ts';
import { createStateMachine } from '../../room/state-machine.ts';
import { goHome, goToRoom, shareUrl } from '../../router.ts';
import { clockOffset, toPoproomError, transport } from '../../server-connection.ts';
import { RecentRooms, StartForm } from '../home/home.tsx';
import { MessagePage } from '../message-page.tsx';
import type { AnswerEvent, AnswerState, Meeting, ScreenState } from './invitation-states.ts';
import { answerTransitions, screenTransitions } from './invitation-states.ts';
import '../../style/invite.css';

export function InvitePage() {
  const invitation = useSignal(takeInvitation());
  // A second QR code in the same tab changes only the fragment.
  useEffect(() => listen('hashchange', () => (invitation.value = takeInvitation(invitation.peek()))), []);
  const { value } = invitation;
  return value === '' ? <ScreenPage /> : <AnswerPage key={value} fragment={value} />;
}

/** Removes the invitation from the address bar, and keeps it for a reload. */
function takeInvitation(current = String(history.state?.invitation ?? '')): string {
  const { hash } = location;
  // The link that skips the header is not an invitation.
  const invitation = hash === '' || hash === '#main' ? current : hash.slice(1);
  history.replaceState(invitation ? { invitation } : null, '', location.pathname);
  return invitation;
}

/** Shows a QR code on a screen without a keyboard. The person who scans it chooses the room that opens here. */
function ScreenPage() {
  const screen = useMemo(openInviteScreen, []);
  const state = screen.state.value;
  useEffect(() => screen.close, []);
  useEffect(() => listen('keydown', leaveOnEscape), []);
  useEffect(() => {
    if (state.name !== 'invited') return;
    const { code, pin, key } = state.room;
    if (pin) savePin(code, pin);
    if (key) saveNewKey(code, key);
    showText(code, 'display', { isInvited: true });
    goToRoom(code);
  }, [state]);

  return (
    <section class="invite-screen">
      <div class="invite-words">
        <h1 ref={takeFocus} tabIndex={-1}>
          {t('screenTitle')}
        </h1>
        <p>{t('screenSteps')}</p>
        <p class="invite-state" role="status">
          <StateText state={state} />
        </p>
        <div class="actions">
          {(state.name === 'expired' || state.name === 'failed') && (
            <Button class="primary" icon="retry" label={t('newCode')} onClick={screen.renew} />
          )}
          <Button label={t('cancel')} onClick={goHome} />
        </div>
      </div>
      {state.name === 'showing' ? (
        <QrCode text={invitationLink(state.meeting)} label={t('screenQr')} />
      ) : (
        <div class="qr-place">{state.name !== 'creating' && <Icon name="qr" />}</div>
      )}
    </section>
  );
}

function StateText({ state }: { state: ScreenState }) {
  if (state.name === 'invited') return t('joining', { code: state.room.code });
  if (state.name === 'expired') return t('screenExpired');
  if (state.name === 'failed') return errorMessage(state.error);
  if (state.name !== 'showing') return t('loading');
  if (state.isOffline) return t('cannotReachServer');
  return <Countdown until={state.meeting.expiresAt + clockOffset.value} format={(ms) => timeLeft(ms)} />;
}

/** Escape closes an open dialog first. */
function leaveOnEscape({ key }: KeyboardEvent): void {
  if (key === 'Escape' && !document.querySelector('dialog[open]')) goHome();
}

/** Seconds that a QR code is valid: time to find a phone and unlock it. */
const lifetime = Math.min(600, limits.roomMaxTtl);

/** A screen that asks to be invited: creates meeting rooms, and opens the first answer that is sealed for it. */
function openInviteScreen() {
  const { state, send } = createStateMachine(screenTransitions, { name: 'creating', renewals: 0 }, onTransition);

  function onTransition(before: ScreenState, after: ScreenState): void {
    if (before.name === 'showing' && after.name !== 'showing') leave(before.meeting);
    if (after.name === 'creating') void create();
    if (after.name === 'showing' && before.name === 'creating') void follow(after.meeting);
  }

  async function create(): Promise<void> {
    const meeting = await createMeeting().catch((error: unknown) => {
      send({ type: 'failed', error: toPoproomError(error) });
    });
    if (!meeting) return;
    send({ type: 'created', meeting });
    // The user has cancelled in the meantime.
    if (state.peek().name === 'closed') leave(meeting);
  }

  async function follow(meeting: Meeting): Promise<void> {
    const { signal } = meeting.aborter;
    addEventListener('pagehide', () => deleteOnExit(meeting), { signal });
    try {
      const end = await followMeeting(meeting.room, signal, send, (text) => {
        const room = openAnswer(meeting.secret, meeting.code, text);
        if (room) send({ type: 'answered', room });
      });
      if (end !== 'left') send({ type: 'ended', isVisible: document.visibilityState === 'visible' });
    } catch (error) {
      if (!signal.aborted) send({ type: 'failed', error: toPoproomError(error) });
    }
  }

  void create();
  // Closing deletes the meeting room.
  return { state, renew: () => send({ type: 'renew' }), close: () => send({ type: 'close' }) };
}

const invitationLink = ({ code, secret }: Meeting): string =>
  `${shareUrl}/invite#${formatInvitation({ ...secret, meeting: code })}`;

async function createMeeting(): Promise<Meeting> {
  const { roomId, expiresAt } = await requestRoom(transport, { expiresIn: lifetime, history: false });
  return {
    room: openMeetingRoom(roomId),
    code: roomId as RoomCode,
    secret: createInvitationSecret(),
    expiresAt: Date.parse(expiresAt),
    aborter: new AbortController(),
  };
}

/** The deletion also tells the other device that this screen has its answer. If it fails, the room expires soon. */
function leave({ room, aborter }: Meeting): void {
  aborter.abort();
  room.delete().catch(() => undefined);
}

/** When the tab closes or reloads. Other requests would end with the page. */
function deleteOnExit({ code }: Meeting): void {
  fetch(`${basePath}/api/rooms/${code}`, { method: 'DELETE', keepalive: true }).catch(() => undefined);
}

function AnswerPage({ fragment }: { fragment: string }) {
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
    case 'sent': {
      const hint = <span role="status">{state.name === 'sent' && state.isOffline && t('cannotReachServer')}</span>;
      return <MessagePage key="waiting" icon="clock" title={t('waitingForScreen')} hint={hint} />;
    }
    case 'accepted': {
      const { code } = state;
      const open = <Button class="primary" label={t('openHere')} onClick={() => goToRoom(code)} />;
      return <MessagePage key="accepted" icon="check" title={t('answerAccepted', { code })} action={open} />;
    }
    case 'invalid':
      return <MessagePage key="invalid" title={t('answerInvalid')} hint={t('answerInvalidHint')} />;
    default:
      return <RoomChoice answer={answer} state={state} />;
  }
}

function RoomChoice({ answer, state }: { answer: Answer; state: AnswerState }) {
  const now = useServerNow();
  const hasRooms = recentRooms.value.some(({ expiresAt }) => expiresAt > now);
  const error = state.name === 'choosing' ? state.error : undefined;
  return (
    <div class="home">
      <h1 ref={takeFocus} tabIndex={-1}>
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
    let rewrites = 0;
    const end = await followMeeting(meeting, signal, send, (text) => {
      // Someone else has overwritten it before the screen has read it. The channel reports if the room has ended.
      if (text !== answer && rewrites++ < maxRewrites) meeting.write(answer).catch(() => undefined);
    });
    if (end !== 'left') send({ type: end as 'deleted' | 'expired' });
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

/** The room through which a screen and a phone exchange an invitation. Neither of them has a name in it. */
const openMeetingRoom = (code: string): RoomBase =>
  openRequests({ code, pin: createRoomPin(undefined), deviceId: undefined, deviceName: undefined });

/** Both sides follow the meeting room until it ends. `onText` receives its text after each change. */
function followMeeting(
  room: RoomBase,
  signal: AbortSignal,
  send: (event: { type: 'connection'; isOffline: boolean }) => void,
  onText: (text: string) => void,
): Promise<Ended> {
  return followRoom(room, signal, (event) => {
    if (event.type === 'waiting' || event.type === 'connected')
      send({ type: 'connection', isOffline: event.type === 'waiting' });
    if (event.type === 'content') onText(event.content);
    if (event.type === 'snapshot') onText(event.content.content);
  });
}
