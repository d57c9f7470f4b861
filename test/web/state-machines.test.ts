/** The state machines of the page, with events in orders that a browser test cannot bring about. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PoproomError, type PoproomErrorCode } from '../../src/client/error.ts';
import {
  type JoinAttempt,
  type LoadedText,
  type RoomEvent,
  type RoomPhase,
  roomTransitions,
} from '../../web/src/room/room-phase.ts';
import { nextState } from '../../web/src/room/state-machine.ts';
import { speedOf, type UploadEvent, type UploadState, uploadTransitions } from '../../web/src/room/upload-state.ts';
import {
  type AnswerEvent,
  type AnswerState,
  answerTransitions,
  maxRenewals,
  type ScreenEvent,
  type ScreenState,
  screenTransitions,
} from '../../web/src/views/invite/invitation-states.ts';

const newAttempt = () => ({ aborter: new AbortController() }) as JoinAttempt;
const text = {} as LoadedText;
const snapshot = {
  type: 'snapshot',
  room: {},
  recent: {},
  devices: [],
  files: [],
  pinAttempts: 0,
} as unknown as RoomEvent;
const failed = (code: PoproomErrorCode): RoomEvent => ({ type: 'failed', error: new PoproomError(code, code), at: 0 });

const roomEvents: readonly RoomEvent[] = [
  { type: 'join', attempt: newAttempt() },
  { type: 'loaded', text },
  { type: 'connecting' },
  { type: 'connected' },
  { type: 'waiting', until: new Date(0), error: new PoproomError('OFFLINE', '') },
  snapshot,
  { type: 'file-added', seq: 1, file: { fileId: 'a' } } as RoomEvent,
  { type: 'file-removed', seq: 2, fileId: 'a' },
  { type: 'devices', seq: 3, devices: [] },
  { type: 'pin-attempts', seq: 4, pinAttempts: 1 },
  { type: 'room', seq: 5, expiresAt: '2030-01-01T00:00:00Z', hasPin: true, pinChanged: true, pinAttempts: 0 },
  { type: 'changed', expiresAt: '2030-01-01T00:00:00Z', hasPin: false, name: 'Office' },
  { type: 'pin-needed' },
  { type: 'deleting', isDeleting: true },
  failed('UNAVAILABLE'),
  failed('PIN_INCORRECT'),
  failed('ROOM_NOT_FOUND'),
  failed('ROOM_EXPIRED'),
  { type: 'ended', reason: 'deleted' },
  { type: 'leave' },
];

describe('a room in the page', () => {
  it('[PAGE-13] [PAGE-15] reaches every phase, and no order of events breaks it', () => {
    const reached = reachablePhases();
    assert.deepEqual([...reached.keys()].sort(), Object.keys(roomTransitions).sort());
  });

  it('[PAGE-13] stays ended or left, whatever arrives late', () => {
    for (const [name, phases] of reachablePhases()) {
      if (name !== 'gone' && name !== 'left') continue;
      for (const phase of phases) {
        for (const event of roomEvents) {
          const next = nextState(roomTransitions, phase, event).name;
          assert.ok(next === name || next === 'gone', `${name}, ${event.type}: ${next}`);
        }
      }
    }
  });

  it('[PAGE-13] is reported as deleted if the page had joined it, and as not found otherwise', () => {
    const joining = after({ type: 'join', attempt: newAttempt() }, { type: 'loaded', text });
    const joinedAndFailed = after(
      { type: 'join', attempt: newAttempt() },
      { type: 'loaded', text },
      snapshot,
      failed('UNAVAILABLE'),
      { type: 'join', attempt: newAttempt() },
    );
    assert.deepEqual([joining.name, joinedAndFailed.name], ['joining', 'joining']);
    assert.equal(reasonOf(nextState(roomTransitions, joining, failed('ROOM_NOT_FOUND'))), 'not-found');
    assert.equal(reasonOf(nextState(roomTransitions, joinedAndFailed, failed('ROOM_NOT_FOUND'))), 'deleted');
  });

  it('[PAGE-4] sends one PIN at a time', () => {
    const attempt = newAttempt();
    const checking = after(
      { type: 'join', attempt: newAttempt() },
      { type: 'loaded', text },
      failed('PIN_REQUIRED'),
      { type: 'join', attempt },
      { type: 'join', attempt: newAttempt() },
    );
    assert.equal(checking.name, 'pin-checking');
    assert.equal(checking.attempt, attempt);
  });
});

describe('an upload in the page', () => {
  const start: UploadEvent = { type: 'start', aborter: new AbortController(), at: 0 };
  const tooLarge: UploadEvent = { type: 'fail', error: new PoproomError('FILE_TOO_LARGE', '') };
  const resume: UploadEvent = { type: 'resume', aborter: new AbortController() };
  const lost: UploadEvent = { type: 'disconnect' };
  const offline: UploadEvent = { type: 'fail', error: new PoproomError('OFFLINE', '') };

  it('[PAGE-10] stays cancelled, whatever its request still reports', () => {
    const cancelled = uploadAfter(start, { type: 'cancel' });
    const late: UploadEvent[] = [
      ...[start, resume, offline, lost, progress(1, 1)],
      ...([{ type: 'retry' }, { type: 'reconnect' }, { type: 'stored', fileUrl: '' }] as const),
    ];
    for (const event of late) {
      assert.equal(nextState(uploadTransitions, cancelled, event), cancelled, event.type);
    }
  });

  it('[PAGE-10] [PAGE-11] offers a retry if it can help, and restarts from the first byte', () => {
    assert.equal(canRetry(uploadAfter(start, offline)), true);
    assert.equal(canRetry(uploadAfter(tooLarge, { type: 'retry' })), false);
    const again = uploadAfter(start, progress(900, 300), offline, { type: 'retry' }, start);
    assert.deepEqual([again.name, sentOf(again)], ['sending', 0]);
  });

  it('[PAGE-30] waits for a lost connection in every state before its end, and then for its turn', () => {
    for (const events of [[], [start], [resume], [start, progress(1, 1)]]) {
      assert.equal(uploadAfter(...events, lost).name, 'offline');
      assert.equal(uploadAfter(...events, lost, progress(2, 2)).name, 'offline', 'the aborted request may report late');
      assert.equal(uploadAfter(...events, lost, { type: 'reconnect' }).name, 'waiting');
    }
    assert.equal(uploadAfter(start, offline, lost).name, 'failed');
  });

  it('[PAGE-30] that is resumed continues from what the server has, which does not count as speed', () => {
    const resumed = uploadAfter(resume, progress(9000, 1000));
    assert.deepEqual([resumed.name, sentOf(resumed)], ['sending', 9000]);
    assert.equal(speedAt(nextState(uploadTransitions, resumed, progress(9500, 2000)), 2000), 500);
  });

  it('[PAGE-10] measures its speed over the last five seconds, from half a second on', () => {
    assert.equal(speedAt(uploadAfter(start, progress(50, 100)), 100), undefined);
    assert.equal(speedAt(uploadAfter(start, progress(50, 100), progress(500, 500)), 500), 1000);
    const steady = uploadAfter(start, progress(9000, 1000), progress(9500, 6000));
    assert.equal(speedAt(steady, 6000), 100);
    assert.equal(speedAt(steady, 12_000), undefined, 'nothing was sent for a while');
    const behind = uploadAfter(start, progress(9000, 1000), progress(4000, 2000), progress(4500, 3000));
    assert.equal(speedAt(behind, 3000), 500, 'a part was lost');
  });
});

describe('inviting a screen', () => {
  const created = { type: 'created', meeting: {} } as ScreenEvent;
  const ended: ScreenEvent = { type: 'ended', isVisible: true };
  const screenAfter = (...events: ScreenEvent[]): ScreenState =>
    events.reduce<ScreenState>((state, event) => nextState(screenTransitions, state, event), {
      name: 'creating',
      renewals: 0,
    });
  const answerAfter = (...events: AnswerEvent[]): string =>
    events.reduce<AnswerState>((state, event) => nextState(answerTransitions, state, event), {
      name: 'choosing',
      error: undefined,
    }).name;

  it('[PAGE-101] renews a QR code only while it is visible, and not forever', () => {
    assert.equal(screenAfter(created, ended).name, 'creating');
    assert.equal(screenAfter(created, { type: 'ended', isVisible: false }).name, 'expired');
    const renewals = Array.from({ length: maxRenewals + 1 }, () => [created, ended]).flat();
    assert.equal(screenAfter(...renewals).name, 'expired');
    assert.equal(screenAfter(...renewals, { type: 'renew' }, created, ended).name, 'creating');
  });

  it('[PAGE-101] takes one answer, and none after it was cancelled', () => {
    const answered = (code: string) => ({ type: 'answered', room: { code } }) as ScreenEvent;
    const invited = screenAfter(created, answered('ABCDEF'), answered('7KQ2MX'), ended);
    assert.deepEqual(invited, { name: 'invited', room: { code: 'ABCDEF' } });
    assert.equal(screenAfter({ type: 'close' }, created, answered('ABCDEF')).name, 'closed');
  });

  it('[PAGE-103] reports success only if the answer was written before the screen deleted the meeting room', () => {
    const choose: AnswerEvent = { type: 'choose', code: 'ABCDEF' };
    assert.equal(answerAfter(choose, { type: 'deleted' }), 'invalid');
    assert.equal(answerAfter(choose, { type: 'written' }, { type: 'deleted' }), 'accepted');
    assert.equal(answerAfter(choose, { type: 'written' }, { type: 'expired' }), 'invalid');
    assert.equal(answerAfter(choose, { type: 'failed', error: new PoproomError('OFFLINE', '') }), 'choosing');
    assert.equal(answerAfter(choose, { type: 'close' }, { type: 'written' }), 'closed');
  });
});

const idle: RoomPhase = {
  name: 'idle',
  attempt: newAttempt(),
  connection: { type: 'connecting' },
  text: undefined,
  content: undefined,
};

const after = (...events: RoomEvent[]): RoomPhase =>
  events.reduce<RoomPhase>((phase, event) => nextState(roomTransitions, phase, event), idle);

/** All phases that some order of the events leads to, by name. */
function reachablePhases(): Map<string, RoomPhase[]> {
  const found = new Map<string, RoomPhase[]>([[idle.name, [idle]]]);
  const known = new Set([summary(idle)]);
  for (const queue: RoomPhase[] = [idle]; queue.length > 0; ) {
    const phase = queue.shift() as RoomPhase;
    for (const event of roomEvents) {
      const next = nextState(roomTransitions, phase, event);
      if (known.has(summary(next))) continue;
      known.add(summary(next));
      queue.push(next);
      found.set(next.name, [...(found.get(next.name) ?? []), next]);
    }
  }
  return found;
}

/** Two phases with the same summary react to the same events in the same way. */
const summary = ({ name, connection, text, content }: RoomPhase): string =>
  [name, connection.type, text !== undefined, content !== undefined].join();

const reasonOf = (phase: RoomPhase) => (phase.name === 'gone' ? phase.reason : phase.name);

const progress = (sent: number, at: number): UploadEvent => ({ type: 'progress', sent, at });
const uploadAfter = (...events: UploadEvent[]): UploadState =>
  events.reduce<UploadState>((state, event) => nextState(uploadTransitions, state, event), { name: 'waiting' });
const canRetry = (state: UploadState) => (state.name === 'failed' ? state.canRetry : undefined);
const sentOf = (state: UploadState) => (state.name === 'sending' ? state.sent : undefined);
const speedAt = (state: UploadState, now: number) => (state.name === 'sending' ? speedOf(state, now) : undefined);
