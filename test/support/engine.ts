/** The engine of the test servers: the embedded one, or the distributed one that `npm test` started. */
import { randomBytes } from 'node:crypto';

const { POPROOM_TEST_REDIS: redis, POPROOM_TEST_S3: s3, POPROOM_TEST_BUCKET: bucket } = process.env;

export const isDistributed = redis !== undefined;

/** Settings for a server with its own data, separate from other tests. */
export function engineUnderTest(): Record<string, string> {
  return isDistributed ? distributedSettings({ redis, s3, bucket }) : {};
}

/** For tests of features that only the embedded engine has. They use it even if other tests use the distributed one. */
export const embeddedSettings = { POPROOM_STORE: 'sqlite:', POPROOM_FILES: 'disk:', POPROOM_SECRET: '' };

interface Addresses {
  redis: string | undefined;
  s3: string | undefined;
  bucket: string | undefined;
}

/** Settings of a server on these stores, with its own prefix, because other tests use the same stores. */
export function distributedSettings(stores: Addresses): Record<string, string> {
  const prefix = `test-${randomBytes(6).toString('hex')}`;
  return {
    POPROOM_STORE: `${stores.redis}${stores.redis?.includes('?') ? '&' : '?'}prefix=${prefix}`,
    POPROOM_FILES: `s3://${stores.bucket}/${prefix}`,
    POPROOM_S3_ENDPOINT: `${stores.s3}`,
    POPROOM_SECRET: 'a secret for the tests of several nodes',
  };
}
