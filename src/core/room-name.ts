/** The name of a room, for display only. */
import { maxNameLength } from '../protocol/limits.ts';
import { envelopePrefix } from '../protocol/sealed.ts';
import { PoproomError } from './errors.ts';
import { removeUnsafeCharacters } from './files/file-name.ts';

/** The name of an encrypted room is sealed, and cannot be cleaned. */
export const looksSealed = (name: string | null | undefined): name is string =>
  name?.startsWith(envelopePrefix) ?? false;

/** Cleans a name like that of a file. Undefined if nothing is left, or there is none. */
export function cleanRoomName(raw: string | null | undefined): string | undefined {
  const name = removeUnsafeCharacters(raw ?? '');
  if ([...name].length <= maxNameLength.room) return name || undefined;
  throw new PoproomError('VALIDATION_FAILED', `"name" may have at most ${maxNameLength.room} characters.`, {
    details: { field: 'name', maximum: maxNameLength.room },
  });
}
