/** `poproom doctor` on Redis and S3: whether they respond, and meet the requirements. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import { dataFolder } from '../support/process.ts';
import { startRedis } from '../support/redis.ts';
import { startS3, type TestS3 } from '../support/s3.ts';
import { runDoctor } from './run-doctor.ts';

const POPROOM_SECRET = 'a secret that is long enough for all';

describe('poproom doctor on Redis', { concurrency: true }, () => {
  it('[CLI-8] reports its version, eviction, persistence and clock', async (t) => {
    const redis = await startRedis(['--appendonly', 'yes', '--appendfsync', 'always']);
    t.after(redis.stop);
    const found = await runDoctor(t, { POPROOM_SECRET, POPROOM_STORE: `${redis.url}?prefix=doctor` });
    found.assertFinding(
      'rooms',
      'ok',
      new RegExp(`Redis at 127\\.0\\.0\\.1:${redis.port} responds; its version is \\d`),
    );
    found.assertFinding('rooms', 'ok', /noeviction/);
    found.assertFinding('rooms', 'ok', /AOF, always.*survives a power failure/);
    found.assertFinding('clock', 'ok', /Redis agrees/);
    found.assertFinding('settings', 'warning', /each has only its own files/);
    assert.equal(found.problemCount, 1);
  });

  it('[CLI-8] warns about eviction, a missing log, and a missing key where one is required', async (t) => {
    const redis = await startRedis(['--maxmemory-policy', 'allkeys-lru']);
    t.after(redis.stop);
    const env = { POPROOM_SECRET, POPROOM_STORE: redis.url, POPROOM_REQUIRE_API_KEY: 'true' };
    const found = await runDoctor(t, env);
    assert.match(found.assertFinding('rooms', 'bad', /is allkeys-lru: .* may evict rooms/), /noeviction/);
    assert.match(found.assertFinding('rooms', 'warning', /has no AOF/), /appendonly/);
    found.assertFinding('rooms', 'warning', /there is no key/);
  });

  it('[CLI-8] reports when it is unreachable or rejects the credentials, without the password', async (t) => {
    const redis = await startRedis();
    t.after(redis.stop);
    execFileSync('redis-cli', ['-p', String(redis.port), 'config', 'set', 'requirepass', 'right-word']);
    const at = (store: string) => runDoctor(t, { POPROOM_SECRET, POPROOM_STORE: store });
    const all = await Promise.all([
      at(`redis://:pass-word@127.0.0.1:${redis.port}`),
      at(redis.url),
      at('redis://user:pass-word@127.0.0.1:1'),
      at('redis://:pass-word@one:1,two:2'),
    ]);
    const [wrong, without, absent, several] = all;
    for (const found of [wrong, without]) found?.assertFinding('rooms', 'bad', /denied access/);
    absent?.assertFinding('rooms', 'bad', /^Redis at 127\.0\.0\.1:1 does not respond/);
    several?.assertFinding('settings', 'bad', /^POPROOM_STORE names several servers/);
    for (const { text } of all) assert.ok(!/pass-word|right-word/.test(text));
  });
});

describe('poproom doctor on S3', () => {
  let s3: TestS3;
  before(async () => {
    s3 = await startS3();
  });
  after(() => s3.stop());

  it('[CLI-8] stores, reads and removes an object, and leaves nothing behind', async (t) => {
    const TMPDIR = await dataFolder(t);
    const env = { ...s3.env, POPROOM_S3_ENDPOINT: s3.endpoint, TMPDIR };
    const found = await runDoctor(t, { ...env, POPROOM_FILES: `s3://${s3.bucket}/doctor` });
    found.assertFinding('files', 'ok', /The bucket poproom-test works: an object was written, read and deleted/);
    assert.deepEqual([found.problemCount, await s3.keys(), await readdir(TMPDIR)], [0, [], []]);
  });

  it('[CLI-8] reports a missing bucket, a silent store, and missing credentials', async (t) => {
    const at = (env: Record<string, string>) => runDoctor(t, { POPROOM_S3_ENDPOINT: s3.endpoint, ...env });
    const [missing, denied, silent, anonymous] = await Promise.all([
      at({ ...s3.env, POPROOM_FILES: 's3://no-such-bucket' }),
      at({ ...s3.env, AWS_ACCESS_KEY_ID: 'wrong-key', POPROOM_FILES: `s3://${s3.bucket}` }),
      at({ ...s3.env, POPROOM_S3_ENDPOINT: 'http://127.0.0.1:1', POPROOM_FILES: `s3://${s3.bucket}` }),
      at({ AWS_EC2_METADATA_DISABLED: 'true', POPROOM_FILES: `s3://${s3.bucket}` }),
    ]);
    missing?.assertFinding('files', 'bad', /The bucket no-such-bucket does not exist/);
    denied?.assertFinding('files', 'bad', /Access to the bucket .* was denied/);
    silent?.assertFinding('files', 'bad', /does not respond/);
    anonymous?.assertFinding('files', 'bad', /no credentials/);
    for (const found of [missing, denied]) assert.ok(!/wrong-key|S3RVER/.test(found?.text ?? ''));
  });
});
