/** The API client for the server that served this page. */
import { type ClientOptions, createBaseClient, PoproomError } from '../../src/client/light.ts';
import { deviceId, deviceName } from './device/identity.ts';

/** With the current device name. */
export function connectToServer() {
  const options: ClientOptions = { url: location.origin, deviceId, deviceName: deviceName.value };
  return createBaseClient(options, (room) => room);
}

/** The error of a failed request. Logs unexpected errors, so that bugs are not hidden. */
export function toPoproomError(error: unknown): PoproomError {
  if (error instanceof PoproomError) return error;
  console.error(error);
  return new PoproomError('INTERNAL', String(error));
}
