/** For tests that assemble core themselves: no storage limits, and rooms with the default limits. */

import type { RoomLimits } from '../../src/core/limits.ts';
import { createStorageQuota } from '../../src/core/storage-quota.ts';

export const defaultLimits: RoomLimits = {
  textBytes: 1024 ** 2,
  fileBytes: 10 * 1024 ** 2,
  filesPerRoom: 100,
  fileBytesPerRoom: 100 * 1024 ** 2,
};

export const noQuota = createStorageQuota({ client: 0, key: 0, total: 0 }, (client) => client);
