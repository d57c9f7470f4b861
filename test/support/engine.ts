/** The engine of the test servers: the embedded one, or the distributed one that `npm test` started. */
import { randomBytes } from 'node:crypto';

const { POPROOM_TEST_REDIS: redis, POPROOM_TEST_S3: s3, POPROOM_TEST_BUCKET: bucket } = process.env;

export const isDistributed = redis !== undefined;

/** For a server of its own: nothing in it is seen by those of other tests. */
export function engineUnderTest(): Record<string, string> {
  return isDistributed ? distributed({ redis, s3, bucket }) : {};
}

/** For tests of what only the embedded engine has: they run on it whatever the others run on. */
export const embedded = { POPROOM_STORE: 'sqlite:', POPROOM_FILES: 'disk:', POPROOM_SECRET: '' };

interface Addresses {
  redis: string | undefined;
  s3: string | undefined;
  bucket: string | undefined;
}

/** Settings of a server on these stores, which others may use too. */
export function distributed(stores: Addresses): Record<string, string> {
  const own = `test-${randomBytes(6).toString('hex')}`;
  return {
    POPROOM_STORE: `${stores.redis}${stores.redis?.includes('?') ? '&' : '?'}prefix=${own}`,
    POPROOM_FILES: `s3://${stores.bucket}/${own}`,
    POPROOM_S3_ENDPOINT: `${stores.s3}`,
    POPROOM_SECRET: 'a secret for the tests of several nodes',
  };
}
