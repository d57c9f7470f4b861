/** The API client for the server that served this page. */
import { type ClientOptions, createBaseClient } from '../../src/client/light.ts';
import { deviceId, deviceName } from './device/identity.ts';

/** With the current device name. */
export function connectToServer() {
  const options: ClientOptions = { url: location.origin, deviceId, deviceName: deviceName.value };
  return createBaseClient(options, (room) => room);
}
