/** The states of a screen that asks to be invited, and of a device that answers. The effects are in invite-page.tsx. */
import type { InvitationSecret, InvitedRoom } from '../../../../src/client/crypto/invitation.ts';
import type { PoproomError } from '../../../../src/client/error.ts';
import type { RoomBase } from '../../../../src/client/room.ts';
import type { RoomCode } from '../../../../src/protocol/room-code.ts';
import type { Transitions } from '../../room/state-machine.ts';

/** The room through which the answer arrives. It exists only for one QR code. */
export interface Meeting {
  readonly room: RoomBase;
  readonly code: RoomCode;
  readonly secret: InvitationSecret;
  /** Milliseconds, by the server's clock. */
  readonly expiresAt: number;
  /** Closes the live channel. */
  readonly aborter: AbortController;
}

export type ScreenState =
  /** `renewals`: how many QR codes have expired since the user asked for one. */
  | { readonly name: 'creating'; readonly renewals: number }
  /** The QR code is shown. `isOffline`: an answer cannot arrive now. */
  | { readonly name: 'showing'; readonly renewals: number; readonly meeting: Meeting; readonly isOffline: boolean }
  | { readonly name: 'invited'; readonly room: InvitedRoom }
  /** Nobody has answered for a long time. The user can ask for a new QR code. */
  | { readonly name: 'expired' }
  | { readonly name: 'failed'; readonly error: PoproomError }
  | { readonly name: 'closed' };

export type ScreenEvent =
  | { type: 'created'; meeting: Meeting }
  | { type: 'connection'; isOffline: boolean }
  | { type: 'answered'; room: InvitedRoom }
  /** The meeting room has expired or was deleted. */
  | { type: 'ended'; isVisible: boolean }
  | { type: 'failed'; error: PoproomError }
  | { type: 'renew' }
  | { type: 'close' };

/** A screen that nobody looks at stops creating rooms. */
export const maxRenewals = 3;

const close = (): { name: 'closed' } => ({ name: 'closed' });
const connection = <State extends { isOffline: boolean }>(
  state: State,
  { isOffline }: { isOffline: boolean },
): State => (isOffline === state.isOffline ? state : { ...state, isOffline });
const failed = (_: ScreenState, { error }: { error: PoproomError }): ScreenState => ({ name: 'failed', error });
const renew = (): ScreenState => ({ name: 'creating', renewals: 0 });

export const screenTransitions: Transitions<ScreenState, ScreenEvent> = {
  creating: {
    created: ({ renewals }, { meeting }) => ({ name: 'showing', renewals, meeting, isOffline: false }),
    failed,
    close,
  },
  showing: {
    connection,
    answered: (_, { room }) => ({ name: 'invited', room }),
    ended: ({ renewals }, { isVisible }) =>
      isVisible && renewals < maxRenewals ? { name: 'creating', renewals: renewals + 1 } : { name: 'expired' },
    failed,
    close,
  },
  invited: { close },
  expired: { renew, close },
  failed: { renew, close },
  closed: {},
};

export type AnswerState =
  /** `error`: why the last attempt failed. */
  | { readonly name: 'choosing'; readonly error: PoproomError | undefined }
  | { readonly name: 'sending'; readonly code: string }
  /** The answer is in the meeting room, and the screen has not taken it yet. */
  | { readonly name: 'sent'; readonly code: string; readonly isOffline: boolean }
  | { readonly name: 'accepted'; readonly code: string }
  /** The invitation has expired, was used before, or is damaged. */
  | { readonly name: 'invalid' }
  | { readonly name: 'closed' };

export type AnswerEvent =
  | { type: 'choose'; code: string }
  | { type: 'written' }
  | { type: 'connection'; isOffline: boolean }
  /** The screen has deleted the meeting room. */
  | { type: 'deleted' }
  | { type: 'expired' }
  | { type: 'failed'; error: PoproomError }
  | { type: 'close' };

const invalid = (): AnswerState => ({ name: 'invalid' });
/** While the answer is on its way, and while it waits. */
const inBoth = {
  expired: invalid,
  failed: (_: AnswerState, { error }: { error: PoproomError }): AnswerState => ({ name: 'choosing', error }),
  close,
};

export const answerTransitions: Transitions<AnswerState, AnswerEvent> = {
  choosing: { choose: (_, { code }) => ({ name: 'sending', code }), close },
  sending: {
    written: ({ code }) => ({ name: 'sent', code, isOffline: false }),
    // Someone else has answered before.
    deleted: invalid,
    ...inBoth,
  },
  sent: { connection, deleted: ({ code }) => ({ name: 'accepted', code }), ...inBoth },
  accepted: { close },
  invalid: { close },
  closed: {},
};
