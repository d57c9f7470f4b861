/** Names of folders, rooms and devices. They are for display only and never used as a path. */
import { maxRoomNameLength } from '../protocol/fields.ts';
import { cleanFolder as clean, folderLimits, removeUnsafeCharacters } from '../protocol/file-name.ts';
import { envelopePrefix, envelopeSize, maxPayloadBytes } from '../protocol/sealed.ts';
import { PoproomError } from './errors.ts';
import type { Room } from './ports.ts';
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
export function cleanRoomName(raw: string | null | undefined): string | undefined {
  const name = removeUnsafeCharacters(raw ?? '');
  if ([...name].length <= maxRoomNameLength) return name || undefined;
  throw new PoproomError('VALIDATION_FAILED', `"name" may have at most ${maxRoomNameLength} characters.`, {
    details: { field: 'name', maximum: maxRoomNameLength },
  });
}

const maxDeviceName = 64;
/** Sealed names are longer. */
export const maxDeviceNameLength = envelopeSize('device', maxPayloadBytes.device);

/** The display name of a device has up to 64 characters, or is sealed in an encrypted room. */
export function checkDeviceName({ salt }: Pick<Room, 'salt'>, name: string | undefined): void {
  if (name === undefined) return;
  if (salt !== undefined) checkSealedMeta(name, 'device', 'deviceName');
  else if ([...name].length > maxDeviceName) throw deviceNameTooLong();
}

export function deviceNameTooLong(): PoproomError {
  return new PoproomError('VALIDATION_FAILED', `The device name is limited to ${maxDeviceName} characters.`, {
    details: { field: 'deviceName' },
  });
}
