/**
 * Replaces sealed edits by a snapshot: when the server asks for it, and when an ordinary room would save a version. The
 * server cannot choose versions of a text that it cannot read, but keeps every full text that a later one replaces.
 */
import type { ClientMessage, CompactText, TextEdit } from '../../protocol/types.ts';

/** The next response of another device shows that one has done it, so most of them stay quiet. */
const maxDelayMs = 2000;
/** When the server accepts no further edits, or the text after a large removal replaces the one before it. */
const maxUrgentDelayMs = 500;

/** As in ordinary rooms: a version after this time of changes, and before large removals. */
const versionAfterMs = 30_000;
/** For the first snapshots of a new text. The second one turns the first into a version. */
const firstVersionAfterMs = 3_000;
const firstSnapshots = 2;
const smallestText = 20;
const largeRemoval = 1000;
const removalEveryMs = 5000;

/**
 * - `offline`: there is no connection;
 * - `idle`: no snapshot is due;
 * - `scheduled`: one is due, and a timer runs. `isRequired`: no response can cancel it.
 */
type CompactionState =
  | { name: 'offline' }
  | { name: 'idle'; send: Send }
  | { name: 'scheduled'; send: Send; timer: ReturnType<typeof setTimeout>; isRequired: boolean };

type Send = (message: ClientMessage) => void;

export function createCompaction(seal: () => Pick<CompactText, 'content' | 'version'> | undefined) {
  let state: CompactionState = { name: 'offline' };
  /** When this device made its first change since its last snapshot. */
  let changedSince: number | undefined;
  /** How many snapshots of a text that this device has started are stored earlier than usual. */
  let earlySnapshots = 0;
  let removedAt = Number.NEGATIVE_INFINITY;
  /** The text before a large removal is stored, and the one after it not yet. */
  let isRemovalOpen = false;

  function enter(next: CompactionState): void {
    if (state.name === 'scheduled') clearTimeout(state.timer);
    state = next;
  }

  function schedule(withinMs: number, isRequired: boolean): void {
    if (state.name !== 'idle') return;
    const { send } = state;
    const timer = setTimeout(() => run(send), Math.random() * withinMs);
    enter({ name: 'scheduled', send, timer, isRequired });
  }

  function run(send: Send): void {
    enter({ name: 'idle', send });
    changedSince = undefined;
    earlySnapshots = Math.max(0, earlySnapshots - 1);
    const snapshot = seal();
    if (snapshot) send({ type: 'compact', ...snapshot, ref: 'compact' });
  }

  return {
    onConnected: (send: Send) => enter({ name: 'idle', send }),
    onDisconnected: () => enter({ name: 'offline' }),

    /** An edit was stored. Its response asks for a snapshot, or not any more. */
    onWritten(isAsked: boolean, version: number): void {
      changedSince ??= Date.now();
      if (version === 1) earlySnapshots = firstSnapshots;
      if (isRemovalOpen) schedule(maxUrgentDelayMs, true);
      isRemovalOpen = false;
      const afterMs = earlySnapshots > 0 ? firstVersionAfterMs : versionAfterMs;
      if (isAsked || Date.now() - changedSince >= afterMs) schedule(maxDelayMs, false);
      else if (state.name === 'scheduled' && !state.isRequired) enter({ name: 'idle', send: state.send });
    },

    /** An edit was refused because the log is full. */
    onRequired: () => schedule(maxUrgentDelayMs, true),

    /** Before the text is replaced. */
    onReplace(): void {
      if (state.name !== 'offline') run(state.send);
    },

    /** Before an edit is sent: stores the text from which it removes much, and then the one that it leaves. */
    onEdit(edits: readonly TextEdit[], length: number): void {
      if (state.name === 'offline' || !isLargeRemoval(edits, length, Date.now() - removedAt)) return;
      removedAt = Date.now();
      isRemovalOpen = true;
      run(state.send);
    },
  };
}

/** The interval keeps small edits of a large text from storing it repeatedly. */
function isLargeRemoval(edits: readonly TextEdit[], length: number, sinceLastMs: number): boolean {
  const removed = edits.reduce((sum, { from, to }) => sum + to - from, 0);
  if (length >= smallestText && removed >= length / 2) return true;
  return removed >= largeRemoval && sinceLastMs >= removalEveryMs;
}
