/** Names of folders, rooms and devices. They are for display only and never used as a path. */

import { cleanFolder as clean, folderLimits, removeUnsafeCharacters } from '../protocol/file-name.ts';
import { maxNameLength } from '../protocol/limits.ts';
import { envelopePrefix, envelopeSize, maxPayloadBytes } from '../protocol/sealed.ts';
import { invalidField, type PoproomError } from './errors.ts';
import type { Room } from './ports/basics.ts';
import { checkSealedMeta } from './sealed.ts';

export function cleanFolder(raw: string): string {
  const folder = clean(raw);
  if (folder !== undefined) return folder;
  const { levels, bytes } = folderLimits;
  throw invalidField('folder', `The folder of a file may have at most ${levels} levels and ${bytes} bytes.`);
}

/** The name of an encrypted room is sealed, and cannot be cleaned. */
export const looksSealed = (name: string | null | undefined): name is string =>
  name?.startsWith(envelopePrefix) ?? false;

/** Cleans a name like that of a file. Undefined if nothing is left, or there is none. */
export function cleanRoomName(raw: string | null | undefined, maximum: number = maxNameLength.room) {
  const name = removeUnsafeCharacters(raw ?? '');
  if ([...name].length <= maximum) return name || undefined;
  throw invalidField('name', `"name" may have at most ${maximum} characters.`, { maximum });
}

/** Sealed names are longer. */
export const maxDeviceNameLength = envelopeSize('device', maxPayloadBytes.device);

/** The display name of a device is sealed in an encrypted room. */
export function checkDeviceName({ salt }: Pick<Room, 'salt'>, name: string | undefined): void {
  if (name === undefined) return;
  if (salt !== undefined) checkSealedMeta(name, 'device', 'deviceName');
  else if ([...name].length > maxNameLength.device) throw deviceNameTooLong();
}

export const deviceNameTooLong = (): PoproomError =>
  invalidField('deviceName', `The device name is limited to ${maxNameLength.device} characters.`);
