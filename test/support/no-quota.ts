/** For tests that assemble core themselves: no storage limits. */
import { createStorageQuota } from '../../src/core/storage-quota.ts';

export const noQuota = createStorageQuota({ client: 0, key: 0, total: 0 }, (client) => client);
