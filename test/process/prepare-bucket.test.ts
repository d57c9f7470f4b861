/** `deploy/prepare-bucket.js`, which creates the bucket from the settings of the server. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { unusedEndpoint } from '../support/faulty-s3.ts';
import { run } from '../support/process.ts';
import { startS3 } from '../support/s3.ts';

const program = fileURLToPath(new URL('../../deploy/prepare-bucket.js', import.meta.url));
const credentials = { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER' };
const prepare = (env: Record<string, string>) =>
  run([], { POPROOM_FILES: 's3://new-bucket/poproom', AWS_EC2_METADATA_DISABLED: 'true', ...env }, [
    process.execPath,
    program,
  ]);

describe('prepare-bucket.js', () => {
  it('[slow] [RUN-18] creates the bucket without a region, and can be run again', async (t) => {
    const s3 = await startS3();
    t.after(s3.stop);
    const env = { ...credentials, POPROOM_S3_ENDPOINT: s3.endpoint, WAIT_SECONDS: '20' };
    const [first, second] = [await prepare(env), await prepare(env)];
    assert.deepEqual([first.code, second.code], [0, 0], first.stderr + second.stderr);
    assert.match(first.stdout, /created the bucket new-bucket/);
    assert.doesNotMatch(second.stdout, /created/);
  });

  it('[RUN-18] prints the cause once, and gives up after a while, or immediately without credentials', async () => {
    const POPROOM_S3_ENDPOINT = unusedEndpoint;
    const refused = await prepare({ ...credentials, POPROOM_S3_ENDPOINT, WAIT_SECONDS: '2' });
    assert.equal(refused.code, 1);
    assert.equal(refused.stdout.split('ECONNREFUSED').length, 2, refused.stdout);
    assert.match(refused.stderr, /^the bucket new-bucket cannot be used: connect ECONNREFUSED 127\.0\.0\.1:\d+\n$/);
    const anonymous = await prepare({ POPROOM_S3_ENDPOINT, WAIT_SECONDS: '600' });
    assert.equal(anonymous.code, 1);
    assert.match(anonymous.stderr, /CredentialsProviderError: Could not load credentials/);
  });
});
