/** The display name of a device, which is sealed in an encrypted room. */
import { maxNameLength } from '../protocol/limits.ts';
import { envelopeSize, maxPayloadBytes } from '../protocol/sealed.ts';
import { PoproomError } from './errors.ts';
import type { Room } from './ports.ts';
import { checkSealedMeta } from './sealed.ts';

/** Sealed names are longer. */
export const maxDeviceNameLength = envelopeSize('device', maxPayloadBytes.device);

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
