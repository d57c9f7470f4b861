/** Shows a QR code on a screen without a keyboard. Whoever scans it chooses the room that opens here. */

import type { ReadonlySignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { createInvitationSecret, formatInvitation, openAnswer } from '../../../../src/client/crypto/invitation.ts';
import type { LiveEvent } from '../../../../src/client/live-state.ts';
import { requestRoom } from '../../../../src/client/room-access.ts';
import type { RoomCode } from '../../../../src/protocol/room-code.ts';
import { Countdown } from '../../components/countdown.tsx';
import { Icon } from '../../components/icon.tsx';
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
  useEffect(() => onEscape(goHome), []);
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
            <button type="button" class="button primary" onClick={screen.renew}>
              <Icon name="retry" />
              {t('newCode')}
            </button>
          )}
          <button type="button" class="button" onClick={goHome}>
            {t('cancel')}
          </button>
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
  switch (state.name) {
    case 'showing':
      if (state.isOffline) return <>{t('cannotReachServer')}</>;
      return <Countdown until={state.meeting.expiresAt + clockOffset.value} format={(ms) => timeLeft(ms)} />;
    case 'invited':
      return <>{t('joining', { code: state.room.code })}</>;
    case 'expired':
      return <>{t('screenExpired')}</>;
    case 'failed':
      return <>{errorMessage(state.error)}</>;
    default:
      return <>{t('loading')}</>;
  }
}

/** Escape closes an open dialog first. */
function onEscape(act: () => void): () => void {
  const onKeyDown = ({ key }: KeyboardEvent) => {
    if (key === 'Escape' && !document.querySelector('dialog[open]')) act();
  };
  addEventListener('keydown', onKeyDown);
  return () => removeEventListener('keydown', onKeyDown);
}

interface InviteScreen {
  readonly state: ReadonlySignal<ScreenState>;
  /** Shows a new QR code after the last one has expired or failed. */
  renew(): void;
  /** Deletes the meeting room. */
  close(): void;
}

/** Seconds that a QR code is valid: time to find a phone and unlock it. */
const lifetime = Math.min(600, limits.roomMaxTtl);

/** A screen that asks to be invited: creates meeting rooms, and opens the first answer that is sealed for it. */
function openInviteScreen(): InviteScreen {
  const machine = createStateMachine(screenTransitions, { name: 'creating', renewals: 0 }, onTransition);
  const { state, send } = machine;

  function onTransition(before: ScreenState, after: ScreenState): void {
    if (before.name === 'showing' && after.name !== 'showing') leave(before.meeting);
    if (after.name === 'creating') void create();
    if (after.name === 'showing' && before.name === 'creating') void listen(after.meeting);
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

  async function listen(meeting: Meeting): Promise<void> {
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
