// Makes the bucket that POPROOM_FILES names, and a rule that removes what is older than any room can be. It runs with
// Poproom's settings, waits for the store, and may run any number of times.
import { setTimeout as pause } from 'node:timers/promises';
import {
  CreateBucketCommand,
  HeadBucketCommand,
  PutBucketLifecycleConfigurationCommand,
  S3Client,
} from '@aws-sdk/client-s3';

// biome-ignore lint/style/noProcessEnv: A program of its own, with nothing of the server's.
const { POPROOM_FILES = '', POPROOM_S3_ENDPOINT, EXPIRE_AFTER_DAYS = '8', WAIT_SECONDS = '60' } = process.env;
const [, Bucket, path = ''] = /^s3:\/\/([^/]+)(?:\/(.*))?$/.exec(POPROOM_FILES) ?? [];
if (!Bucket) throw new Error('POPROOM_FILES must be a bucket, such as s3://my-bucket/poproom');

const client = new S3Client({
  ...(POPROOM_S3_ENDPOINT && { endpoint: POPROOM_S3_ENDPOINT, forcePathStyle: true }),
  requestChecksumCalculation: 'WHEN_REQUIRED',
});
const deadline = Date.now() + Number(WAIT_SECONDS) * 1000;

await untilItAnswers(async () => {
  if (await isThere()) return;
  await client.send(new CreateBucketCommand({ Bucket }));
  console.log(`made the bucket ${Bucket}`);
});

const Prefix = path.replace(/\/*$/, path === '' ? '' : '/');
const Rules = [
  { ID: 'poproom', Status: 'Enabled', Filter: { Prefix }, Expiration: { Days: Number(EXPIRE_AFTER_DAYS) } },
];
const rule = new PutBucketLifecycleConfigurationCommand({ Bucket, LifecycleConfiguration: { Rules } });
try {
  await client.send(rule);
  console.log(`objects under "${Prefix}" of ${Bucket} are removed after ${EXPIRE_AFTER_DAYS} days`);
} catch (error) {
  // Not all stores know such rules, and Poproom does not depend on them.
  console.error(`no rule for old objects: ${error.name}: ${error.message}`);
}

async function isThere() {
  try {
    await client.send(new HeadBucketCommand({ Bucket }));
    return true;
  } catch (error) {
    if (error.name !== 'NotFound' && error.name !== 'NoSuchBucket') throw error;
    return false;
  }
}

async function untilItAnswers(work) {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      console.log(`waiting for the store (${error.code ?? error.name})`);
      await pause(1000);
    }
  }
}
