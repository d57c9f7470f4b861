/** Replaces a long log of sealed edits by a snapshot, when the server asks for it. */
import type { ClientMessage, CompactText } from '../../protocol/types.ts';

/** The next response of another device shows that one has done it, so most of them stay quiet. */
const maxDelayMs = 2000;
/** When the server accepts no further edits. */
const maxUrgentDelayMs = 500;

/**
 * - `offline`: there is no connection;
 * - `idle`: the server has not asked;
 * - `scheduled`: it has asked, and a timer runs.
 */
type CompactionState =
  | { name: 'offline' }
  | { name: 'idle'; send: Send }
  | { name: 'scheduled'; send: Send; timer: ReturnType<typeof setTimeout> };

type Send = (message: ClientMessage) => void;

export function createCompaction(seal: () => Pick<CompactText, 'content' | 'version'> | undefined) {
  let state: CompactionState = { name: 'offline' };

  function enter(next: CompactionState): void {
    if (state.name === 'scheduled') clearTimeout(state.timer);
    state = next;
  }

  function schedule(withinMs: number): void {
    if (state.name !== 'idle') return;
    const { send } = state;
    enter({ name: 'scheduled', send, timer: setTimeout(() => run(send), Math.random() * withinMs) });
  }

  function run(send: Send): void {
    enter({ name: 'idle', send });
    const snapshot = seal();
    if (snapshot) send({ type: 'compact', ...snapshot, ref: 'compact' });
  }

  return {
    onConnected: (send: Send) => enter({ name: 'idle', send }),
    onDisconnected: () => enter({ name: 'offline' }),

    /** A response to an edit asks for a snapshot, or not any more. */
    onHint(isDue: boolean): void {
      if (isDue) schedule(maxDelayMs);
      else if (state.name === 'scheduled') enter({ name: 'idle', send: state.send });
    },

    /** An edit was refused because the log is full. */
    onRequired: () => schedule(maxUrgentDelayMs),
  };
}
