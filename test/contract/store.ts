/** The contract of stores, which every engine must pass. */
import { describe } from 'node:test';
import { activityTests, blockTests, reportTests, summaryTests } from './store-admin.ts';
import { archiveTests } from './store-archive.ts';
import { claimTests } from './store-claims.ts';
import { compactionTests } from './store-compaction.ts';
import { contentTests } from './store-content.ts';
import { fileTests } from './store-files.ts';
import { guardTests } from './store-guard.ts';
import { historyTests } from './store-history.ts';
import { idempotencyTests } from './store-idempotency.ts';
import { keyTests } from './store-keys.ts';
import { lifetimeTests } from './store-lifetime.ts';
import { linkTests } from './store-links.ts';
import { logTests } from './store-log.ts';
import { modelTests } from './store-model.ts';
import { rateTests } from './store-rates.ts';
import { removalTests } from './store-removal.ts';
import { restartTests } from './store-restart.ts';
import { roomTests } from './store-rooms.ts';
import { sealedTests } from './store-sealed.ts';
import { secretTests } from './store-secret.ts';
import { storageTests } from './store-storage.ts';
import { trashTests } from './store-trash.ts';
import { type OpenStore, openForSuite } from './store-under-test.ts';
import { updateTests } from './store-updates.ts';
import { uploadTests } from './store-uploads.ts';
import { webhookTests } from './store-webhooks.ts';

export type { OpenStore, StoreUnderTest } from './store-under-test.ts';

export function storeContract(name: string, open: OpenStore): void {
  // Opening a store takes most of the time, so suites run concurrently, and the tests of a suite share stores.
  describe(`${name}: the contract of stores`, { concurrency: 4 }, () => {
    for (const [title, register] of Object.entries(suites)) {
      describe(title, { concurrency: 1 }, () => register(openForSuite(open)));
    }
  });
}

const suites = {
  rooms: roomTests,
  lifetime: lifetimeTests,
  changes: updateTests,
  guards: guardTests,
  links: linkTests,
  content: contentTests,
  'edit log': logTests,
  compaction: compactionTests,
  history: historyTests,
  files: fileTests,
  'removed files': removalTests,
  'one-time files': claimTests,
  'unfinished files': uploadTests,
  trash: trashTests,
  'storage accounts': storageTests,
  rates: rateTests,
  keys: keyTests,
  'idempotency keys': idempotencyTests,
  secret: secretTests,
  'room summaries': summaryTests,
  blocks: blockTests,
  reports: reportTests,
  activity: activityTests,
  restarts: restartTests,
  'encrypted rooms': sealedTests,
  webhooks: webhookTests,
  archive: archiveTests,
  'random operations': modelTests,
};
