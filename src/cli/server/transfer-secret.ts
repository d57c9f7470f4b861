/** PINs are stored as hashes under the secret, so the target needs the same secret. It is never shown. */
import { existsSync } from 'node:fs';
import type { StorePlace } from '../../engine/location.ts';
import { copySecret, secretIn } from '../../engine/secret.ts';
import { UsageError } from '../usage-error.ts';

/** Copies the secret if both sides keep it in a file. Returns what the operator has to do, as a sentence. */
export function transferSecret(from: StorePlace, to: StorePlace, given: string | undefined): string {
  if (given !== undefined) return 'To keep PINs valid, set the current POPROOM_SECRET on the new server, too.';
  if (!('folder' in from) || !existsSync(secretIn(from.folder))) {
    return 'To keep PINs valid, set the POPROOM_SECRET of the old servers on the new server, too.';
  }
  if (!('folder' in to)) {
    return `To keep PINs valid, set POPROOM_SECRET on every node to the content of ${secretIn(from.folder)}.`;
  }
  if (copySecret(from.folder, to.folder) === 'same')
    return `PINs stay valid: ${secretIn(to.folder)} has the same secret.`;
  throw new UsageError(
    `${secretIn(to.folder)} differs from the secret of ${from.folder}, so PINs would become invalid; choose an empty folder.`,
  );
}
