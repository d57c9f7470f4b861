/** For tests that put core together themselves: everyone may store everything. */
import { createStorageQuota } from '../../src/core/storage-quota.ts';

export const noQuota = createStorageQuota({ client: 0, key: 0, total: 0 }, (client) => client);
