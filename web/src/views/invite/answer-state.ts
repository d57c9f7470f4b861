/** The states of a device that answers an invitation. The effects are in answer-page.tsx. */
import type { PoproomError } from '../../../../src/client/error.ts';
import type { Transitions } from '../../room/state-machine.ts';

export type AnswerState =
  /** `error`: why the last attempt failed. */
  | { readonly name: 'choosing'; readonly error: PoproomError | undefined }
  /** The answer is on its way. */
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
const close = (): AnswerState => ({ name: 'closed' });
const failed = (_: AnswerState, { error }: { error: PoproomError }): AnswerState => ({ name: 'choosing', error });
/** While the answer is on its way, and while it waits. */
const inBoth = { expired: invalid, failed, close };

export const answerTransitions: Transitions<AnswerState, AnswerEvent> = {
  choosing: { choose: (_, { code }) => ({ name: 'sending', code }), close },
  sending: {
    written: ({ code }) => ({ name: 'sent', code, isOffline: false }),
    // Someone else has answered before.
    deleted: invalid,
    ...inBoth,
  },
  sent: {
    connection: (state, { isOffline }) => (isOffline === state.isOffline ? state : { ...state, isOffline }),
    deleted: ({ code }) => ({ name: 'accepted', code }),
    ...inBoth,
  },
  accepted: { close },
  invalid: { close },
  closed: {},
};
