/** The server that this page came from. */
import { createClient } from '../../src/client/index.ts';
import { deviceId, deviceName } from './device/identity.ts';

/** Under the name that the device has now. */
export const connectToServer = () => createClient({ url: location.origin, deviceId, deviceName: deviceName.value });
