/** For tests that assemble core themselves: no storage limits, and rooms with the default limits. */
import { createStorageQuota } from '../../src/core/storage-quota.ts';

export { defaultRoomLimits as defaultLimits } from '../../src/protocol/limits.ts';

export const noQuota = createStorageQuota({ client: 0, key: 0, total: 0 }, (client) => client);
