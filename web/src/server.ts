/** The server that this page came from. */

import { deviceId, deviceName } from './device/identity.ts';
import { createClient } from './sdk.ts';

/** Under the name that the device has now. */
export const connectToServer = () => createClient({ url: location.origin, deviceId, deviceName: deviceName.value });
