/** Names of folders, rooms and devices. They are for display only and never used as a path. */

import { cleanFolder as clean, folderLimits, removeUnsafeCharacters } from '../protocol/file-name.ts';
import { maxNameLength } from '../protocol/limits.ts';
import { envelopePrefix, envelopeSize, maxPayloadBytes } from '../protocol/sealed.ts';
import { PoproomError } from './errors.ts';
import type { Room } from './ports/basics.ts';
import { checkSealedMeta } from './sealed.ts';

export function cleanFolder(raw: string): string {
  const folder = clean(raw);
  if (folder !== undefined) return folder;
  throw new PoproomError(
    'VALIDATION_FAILED',
    `The folder of a file may have at most ${folderLimits.levels} levels and ${folderLimits.bytes} bytes.`,
    { details: { field: 'folder' } },
  );
}

/** The name of an encrypted room is sealed, and cannot be cleaned. */
export const looksSealed = (name: string | null | undefined): name is string =>
  name?.startsWith(envelopePrefix) ?? false;

/** Cleans a name like that of a file. Undefined if nothing is left, or there is none. */
export function cleanRoomName(
  raw: string | null | undefined,
  maximum: number = maxNameLength.room,
): string | undefined {
  const name = removeUnsafeCharacters(raw ?? '');
  if ([...name].length <= maximum) return name || undefined;
  throw new PoproomError('VALIDATION_FAILED', `"name" may have at most ${maximum} characters.`, {
    details: { field: 'name', maximum },
  });
}

/** A link has a name like that of a device, because members see its devices by it. */
export const cleanLinkName = (raw: string | null | undefined): string | undefined =>
  cleanRoomName(raw, maxNameLength.device);

/** Sealed names are longer. */
export const maxDeviceNameLength = envelopeSize('device', maxPayloadBytes.device);

/** The display name of a device is sealed in an encrypted room. */
export function checkDeviceName({ salt }: Pick<Room, 'salt'>, name: string | undefined): void {
  if (name === undefined) return;
  if (salt !== undefined) checkSealedMeta(name, 'device', 'deviceName');
  else if ([...name].length > maxNameLength.device) throw deviceNameTooLong();
}

export function deviceNameTooLong(): PoproomError {
  return new PoproomError('VALIDATION_FAILED', `The device name is limited to ${maxNameLength.device} characters.`, {
    details: { field: 'deviceName' },
  });
}
