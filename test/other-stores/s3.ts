/** The contract of blob stores on the S3 store that `npm run test:stores` has started. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultTimeouts, openS3Blobs } from '../../src/blobs/s3.ts';
import { openS3Objects } from '../../src/blobs/s3-objects.ts';
import { type BlobsUnderTest, blobsContract } from '../contract/blobs.ts';

const { POPROOM_TEST_S3: endpoint, POPROOM_TEST_BUCKET: bucket = '', POPROOM_TEST_STORE: name } = process.env;

blobsContract(`s3, ${name}`, async (): Promise<BlobsUnderTest> => {
  const spool = await mkdtemp(join(tmpdir(), 'poproom-spool-'));
  const location = { bucket, prefix: `${randomBytes(6).toString('hex')}/`, endpoint, pathStyle: true };
  const objects = await openS3Objects(location, defaultTimeouts);
  return {
    blobs: await openS3Blobs({ ...location, spool, minFree: 0 }),
    async countStored() {
      let stored = (await objects.listParts()).length + (await readdir(spool)).length;
      for await (const page of objects.list()) stored += page.length;
      return stored;
    },
    dispose: () => rm(spool, { recursive: true }),
  };
});
