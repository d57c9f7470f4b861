/** Answers the invitation of a screen: seals a room for it, and waits until the screen has taken it. */
import type { ReadonlySignal } from '@preact/signals';
import { type Invitation, sealAnswer } from '../../../src/client/crypto/invitation.ts';
import { parseRoomKey, type RoomKey } from '../../../src/client/crypto/room-key.ts';
import { EncryptionError } from '../../../src/client/error.ts';
import type { LiveEvent, RoomCode } from '../../../src/client/index.ts';
import { recentRooms, savedPin } from '../device/recent-rooms.ts';
import { requestKey, savedKey } from '../device/room-keys.ts';
import { createStateMachine } from '../room/state-machine.ts';
import { toPoproomError } from '../server.ts';
import { type AnswerEvent, type AnswerState, answerTransitions } from './answer-state.ts';
import { followMeeting, textIn } from './follow-meeting.ts';
import { openMeetingRoom } from './meeting-room.ts';

export interface Answer {
  readonly state: ReadonlySignal<AnswerState>;
  /** Invites the screen into this room. */
  choose(code: string): void;
  close(): void;
}

/** If others overwrite the answer more often than this, it is not written again. */
const maxRewrites = 5;

export function openAnswerTo(invitation: Invitation): Answer {
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
    const end = await followMeeting(meeting, signal, keepAnswer(answer));
    if (end !== 'left') send({ type: end });
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

  return { state, choose: (code) => send({ type: 'choose', code }), close: () => send({ type: 'close' }) };
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
