/** Each text and edit contains the hash of the one before it, so a server cannot drop or replace one unnoticed. */
import { maxRecentHashes } from '../../protocol/sealed.ts';
import { hashOf } from './envelope.ts';
import { EncryptionError } from './errors.ts';

/** A version of the text, with the versions before it that are known. It can be stored as JSON. */
export interface ChainPosition {
  readonly version: number;
  /** The hash of the envelope of this version: 16 bytes as base64url. */
  readonly hash: string;
  /** The hashes of the versions before it, newest first. The list ends at the first unknown version, or after 64. */
  readonly earlier?: readonly string[] | undefined;
}

/** The position of a room without a text. */
export const chainStart: ChainPosition = { version: 0, hash: 'A'.repeat(22) };

/**
 * Returns the new position. Throws `ROLLBACK` if the link is older than `seen`, and `FORK` if it does not continue it.
 * After a gap without a common version nothing can be compared, so the link is accepted.
 */
export function advanceChain(seen: ChainPosition | undefined, link: ChainPosition): ChainPosition {
  const { version, hash } = link;
  if (seen && version < seen.version) {
    const message = `The server sent version ${version} of the text, but this device has seen version ${seen.version}.`;
    throw new EncryptionError('ROLLBACK', message);
  }
  if (seen) checkFork(seen, link);
  const earlier: string[] = [];
  while (earlier.length < maxRecentHashes) {
    const before = version - earlier.length - 1;
    const known = hashAt(link, before) ?? (seen && hashAt(seen, before));
    if (before < 1 || known === undefined) break;
    earlier.push(known);
  }
  return { version, hash, ...(earlier.length > 0 && { earlier }) };
}

/** The position after a version that this device has sealed itself. */
export const nextPosition = (base: ChainPosition, envelope: string): ChainPosition =>
  advanceChain(base, { version: base.version + 1, hash: hashOf(envelope), earlier: [base.hash] });

/** Throws `FORK` if a version that both know has different hashes. */
export function checkFork(seen: ChainPosition, other: ChainPosition): void {
  const newest = Math.min(seen.version, other.version);
  for (let version = newest; version >= newest - maxRecentHashes; version--) {
    const [known, shown] = [hashAt(seen, version), hashAt(other, version)];
    if (known === undefined || shown === undefined) return;
    if (known === shown) continue;
    throw new EncryptionError(
      'FORK',
      `The server sent a version ${other.version} that does not continue what this device has seen.`,
    );
  }
}

/** Undefined if it is not known. */
export function hashAt({ version, hash, earlier = [] }: ChainPosition, at: number): string | undefined {
  return at === version ? hash : earlier[version - at - 1];
}
