// Creates the bucket in POPROOM_FILES, and a lifecycle rule that removes the parts of abandoned uploads. Uses Poproom's
// settings, waits until the store responds, and can be run repeatedly.
import { setTimeout as pause } from 'node:timers/promises';
import {
  CreateBucketCommand,
  HeadBucketCommand,
  PutBucketLifecycleConfigurationCommand,
  S3Client,
} from '@aws-sdk/client-s3';

// biome-ignore lint/style/noProcessEnv: This is a separate program without the server's configuration.
const { POPROOM_FILES = '', POPROOM_S3_ENDPOINT, WAIT_SECONDS = '60' } = process.env;
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
  console.log(`created the bucket ${Bucket}`);
});

const Prefix = path.replace(/\/*$/, path === '' ? '' : '/');
// Objects do not expire by their age, because a room can be extended any number of times. An upload ends within a day.
const AbortIncompleteMultipartUpload = { DaysAfterInitiation: 2 };
const Rules = [{ ID: 'poproom', Status: 'Enabled', Filter: { Prefix }, AbortIncompleteMultipartUpload }];
const rule = new PutBucketLifecycleConfigurationCommand({ Bucket, LifecycleConfiguration: { Rules } });
try {
  await client.send(rule);
  console.log(`abandoned uploads in "${Bucket}/${Prefix}" are removed after 2 days`);
} catch (error) {
  // Some stores do not support lifecycle rules, and Poproom works without them.
  console.error(`could not create the lifecycle rule: ${error.name}: ${error.message}`);
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
