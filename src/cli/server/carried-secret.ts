/** PINs are kept as hashes that hang on the secret: where rooms go, the same secret must hold. It is never shown. */
import { existsSync } from 'node:fs';
import type { StorePlace } from '../../engine/location.ts';
import { copySecret, secretIn } from '../../engine/secret.ts';
import { UsageError } from '../usage-error.ts';

/** Copies the secret where both ends have a file for it; returns what is left to do, as a sentence. */
export function carrySecret(from: StorePlace, to: StorePlace, given: string | undefined): string {
  if (given !== undefined) return 'PINs hold where POPROOM_SECRET is set to what it is now: set it there, too.';
  if (!('folder' in from) || !existsSync(secretIn(from.folder))) {
    return 'PINs hold where POPROOM_SECRET is set to what it was for the servers until now: set it there, too.';
  }
  if (!('folder' in to)) {
    return `PINs hold where POPROOM_SECRET is set to the text of the file ${secretIn(from.folder)}: set it on every node.`;
  }
  if (copySecret(from.folder, to.folder) === 'same') return `PINs hold: the secret is in ${secretIn(to.folder)}, too.`;
  throw new UsageError(
    `${secretIn(to.folder)} is not the secret of ${from.folder}, so PINs would not hold; move to a fresh folder.`,
  );
}
