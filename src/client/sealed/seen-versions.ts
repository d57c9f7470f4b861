/** The newest version of the text that this device has seen, whether by a request or on a live channel. */
import type { ChainPosition } from '../crypto/index.ts';

export interface SeenVersions {
  readonly position: ChainPosition | undefined;
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
      if (newest && newest.version >= position.version) return;
      newest = position;
      onSeen(position);
    },
    newest: (other) => (newest && newest.version > (other?.version ?? -1) ? newest : other),
  };
}
