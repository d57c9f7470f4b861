/** A screen that asks to be invited: creates meeting rooms, and opens the first answer that is sealed for it. */
import type { ReadonlySignal } from '@preact/signals';
import { createInvitationSecret, formatInvitation, openAnswer } from '../../../src/client/crypto/invitation.ts';
import type { LiveEvent, RoomCode } from '../../../src/client/index.ts';
import { requestRoom } from '../../../src/client/room-access.ts';
import { basePath, limits } from '../page-settings.ts';
import { createStateMachine } from '../room/state-machine.ts';
import { shareUrl } from '../router.ts';
import { toPoproomError, transport } from '../server.ts';
import { followMeeting, textIn } from './follow-meeting.ts';
import { openMeetingRoom } from './meeting-room.ts';
import { type Meeting, type ScreenState, screenTransitions } from './screen-state.ts';

export interface InviteScreen {
  readonly state: ReadonlySignal<ScreenState>;
  /** Shows a new QR code after the last one has expired or failed. */
  renew(): void;
  /** Deletes the meeting room. */
  close(): void;
}

/** Seconds that a QR code is valid: time to find a phone and unlock it. */
const lifetime = Math.min(600, limits.roomMaxTtl);

export function openInviteScreen(): InviteScreen {
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
      const end = await followMeeting(meeting.room, signal, (event) => onEvent(meeting, event));
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
export const invitationLink = ({ code, secret }: Meeting): string =>
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
