/** Shows a QR code on a screen without a keyboard. Whoever scans it chooses the room that opens here. */
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { createInvitationSecret, formatInvitation, openAnswer } from '../../../../src/client/crypto/invitation.ts';
import type { LiveEvent } from '../../../../src/client/live-state.ts';
import { requestRoom } from '../../../../src/client/room-access.ts';
import type { RoomCode } from '../../../../src/protocol/room-code.ts';
import { Button } from '../../components/controls.tsx';
import { Countdown } from '../../components/countdown.tsx';
import { Icon } from '../../components/icon.tsx';
import { listen } from '../../components/listen.ts';
import { QrCode } from '../../components/qr-code.tsx';
import { clockOffset } from '../../device/clock.ts';
import { savePin } from '../../device/recent-rooms.ts';
import { saveNewKey } from '../../device/room-keys.ts';
import { showText } from '../../device/text-view.ts';
import { t } from '../../i18n/all-strings.ts';
import { errorMessage } from '../../i18n/error-message.ts';
import { timeLeft } from '../../i18n/quantities.ts';
import { basePath, limits } from '../../page-settings.ts';
import { followRoom } from '../../room/room-requests.ts';
import { createStateMachine } from '../../room/state-machine.ts';
import { goHome, goToRoom, shareUrl } from '../../router.ts';
import { toPoproomError, transport } from '../../server-connection.ts';
import { openMeetingRoom, textIn } from './meeting.ts';
import { type Meeting, type ScreenState, screenTransitions } from './screen-state.ts';

export function ScreenPage() {
  const screen = useMemo(openInviteScreen, []);
  const heading = useRef<HTMLHeadingElement>(null);
  const state = screen.state.value;
  useEffect(() => screen.close, []);
  useEffect(() => listen('keydown', leaveOnEscape), []);
  useLayoutEffect(() => heading.current?.focus(), []);
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
        <h1 ref={heading} tabIndex={-1}>
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
      const end = await followRoom(meeting.room, signal, (event) => onEvent(meeting, event));
      if (end !== 'left') send({ type: 'ended', isVisible: document.visibilityState === 'visible' });
    } catch (error) {
      if (!signal.aborted) send({ type: 'failed', error: toPoproomError(error) });
    }
  }

  function onEvent({ secret, code }: Meeting, event: LiveEvent): void {
    if (event.type === 'waiting' || event.type === 'connected')
      send({ type: 'connection', isOffline: event.type === 'waiting' });
    const room = openAnswer(secret, code, textIn(event) ?? '');
    if (room) send({ type: 'answered', room });
  }

  void create();
  // Closing deletes the meeting room.
  return { state, renew: () => send({ type: 'renew' }), close: () => send({ type: 'close' }) };
}

/** The link in the QR code. */
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
