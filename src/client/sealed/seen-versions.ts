/** The newest version of the text that this device has seen, whether by a request or on a live channel. */
import { advanceChain, type ChainPosition, checkFork } from '../crypto/index.ts';

export interface SeenVersions {
  readonly position: ChainPosition | undefined;
  /** Throws `FORK` if a version differs from what was seen in another way. */
  note(position: ChainPosition): void;
  /** The newer one of this and another position. */
  newest(other: ChainPosition | undefined): ChainPosition | undefined;
}

export function createSeenVersions(
  start: ChainPosition | undefined,
  onSeen: (seen: ChainPosition) => void,
): SeenVersions {
  let newest = start;
  return {
    get position() {
      return newest;
    },
    note(position) {
      // A response may arrive after newer messages.
      if (newest && newest.version >= position.version) return checkFork(newest, position);
      newest = advanceChain(newest, position);
      onSeen(newest);
    },
    newest: (other) => (newest && newest.version > (other?.version ?? -1) ? newest : other),
  };
}
