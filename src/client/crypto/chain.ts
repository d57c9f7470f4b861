/** Each text and edit contains the hash of the one before it, so a server cannot drop or replace one unnoticed. */
import { EncryptionError } from './errors.ts';

/** The newest version that a device has seen. It can be stored as JSON. */
export interface ChainPosition {
  readonly version: number;
  /** The hash of the envelope of this version: 16 bytes as base64url. */
  readonly hash: string;
}

/** A version that was opened. */
export interface ChainLink extends ChainPosition {
  /** The hash of the version before. Undefined for a snapshot, which replaces the versions before it. */
  readonly previous: string | undefined;
}

/** The position of a room without a text. */
export const chainStart: ChainPosition = { version: 0, hash: 'A'.repeat(22) };

/**
 * Returns the new position. Throws `ROLLBACK` if the link is older than `seen`, and `FORK` if it does not continue it.
 * After a gap nothing can be compared, so the link is accepted.
 */
export function advanceChain(seen: ChainPosition | undefined, link: ChainLink): ChainPosition {
  const { version, hash } = link;
  if (!seen) return { version, hash };
  if (version < seen.version) {
    const message = `The server sent version ${version} of the text, but this device has seen version ${seen.version}.`;
    throw new EncryptionError('ROLLBACK', message);
  }
  if (!continues(seen, link)) {
    throw new EncryptionError(
      'FORK',
      `The server sent a version ${version} that does not continue what this device has seen.`,
    );
  }
  return { version, hash };
}

function continues(seen: ChainPosition, { version, hash, previous }: ChainLink): boolean {
  if (version === seen.version) return hash === seen.hash;
  const isNext = version === seen.version + 1 && previous !== undefined;
  return !isNext || previous === seen.hash;
}
