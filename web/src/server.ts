/** The server that this page came from. */
import { type ClientOptions, createBaseClient } from '../../src/client/light.ts';
import { deviceId, deviceName } from './device/identity.ts';

/** Under the name that the device has now. */
export function connectToServer() {
  const options: ClientOptions = { url: location.origin, deviceId, deviceName: deviceName.value };
  return createBaseClient(options, (room) => room);
}
