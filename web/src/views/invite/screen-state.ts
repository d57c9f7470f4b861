/** The states of a screen that shows a QR code to be invited. The effects are in screen-page.tsx. */
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

const close = (): ScreenState => ({ name: 'closed' });
const failed = (_: ScreenState, { error }: { error: PoproomError }): ScreenState => ({ name: 'failed', error });
const renew = (): ScreenState => ({ name: 'creating', renewals: 0 });

export const screenTransitions: Transitions<ScreenState, ScreenEvent> = {
  creating: {
    created: ({ renewals }, { meeting }) => ({ name: 'showing', renewals, meeting, isOffline: false }),
    failed,
    close,
  },
  showing: {
    connection: (state, { isOffline }) => (isOffline === state.isOffline ? state : { ...state, isOffline }),
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
