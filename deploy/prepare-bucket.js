// Creates the bucket in POPROOM_FILES, and a lifecycle rule that removes the parts of abandoned uploads. Uses Poproom's
// settings, waits until the store responds (WAIT_SECONDS, 60 by default), and can be run repeatedly.
import { setTimeout as pause } from 'node:timers/promises';
import {
  CreateBucketCommand,
  HeadBucketCommand,
  PutBucketLifecycleConfigurationCommand,
  S3Client,
} from '@aws-sdk/client-s3';

// biome-ignore lint/style/noProcessEnv: This is a separate program without the server's configuration.
const { POPROOM_FILES = '', POPROOM_S3_ENDPOINT: endpoint, POPROOM_S3_PATH_STYLE, WAIT_SECONDS = '60' } = process.env;
const [, Bucket, path = ''] = /^s3:\/\/([^/]+)(?:\/(.*))?$/.exec(POPROOM_FILES) ?? [];
if (!Bucket) fail('POPROOM_FILES must be a bucket, such as s3://my-bucket/poproom');
const deadline = Date.now() + Number(WAIT_SECONDS) * 1000;

// The same default as in the server: every store requires a region, and most ignore it.
const region = await new S3Client({}).config.region().catch(() => 'us-east-1');
const client = new S3Client({
  region,
  ...(endpoint && { endpoint }),
  forcePathStyle: POPROOM_S3_PATH_STYLE ? POPROOM_S3_PATH_STYLE === 'true' : Boolean(endpoint),
  requestChecksumCalculation: 'WHEN_REQUIRED',
  requestHandler: { connectionTimeout: 3000, requestTimeout: 10_000, throwOnRequestTimeout: true },
});

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
  console.error(`could not create the lifecycle rule: ${causeOf(error)}`);
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

/** Prints each cause once, and tries at least twice. */
async function untilItAnswers(work) {
  let printed = '';
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const cause = causeOf(error);
      const isLast = Date.now() > deadline && printed !== '';
      if (isLast || isPermanent(error)) fail(`the bucket ${Bucket} cannot be used: ${cause}`);
      if (cause !== printed) console.log(`waiting for the store: ${cause}`);
      printed = cause;
      await pause(1000);
    }
  }
}

/** Neither a store that starts nor one that creates its keys fixes these. */
function isPermanent({ name, code = '' }) {
  return name === 'CredentialsProviderError' || code === 'EPROTO' || /^ERR_SSL|CERT/.test(code);
}

function causeOf({ name, message, code, $metadata }) {
  const cause = name === 'Error' ? message || code : `${name}: ${message}`;
  return $metadata?.httpStatusCode ? `${cause} (HTTP ${$metadata.httpStatusCode})` : cause;
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
