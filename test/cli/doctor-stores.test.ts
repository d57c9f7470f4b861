/** `poproom doctor` on Redis and S3: whether they respond, and meet the requirements. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { createCertificate } from '../support/certificate.ts';
import { forwardTo, s3Error, startFaultyS3 } from '../support/faulty-s3.ts';
import { dataFolder } from '../support/process.ts';
import { startRedis } from '../support/redis.ts';
import { startS3, type TestS3 } from '../support/s3.ts';
import { runDoctor } from './run-doctor.ts';

const POPROOM_SECRET = 'a secret that is long enough for all';

describe('poproom doctor on Redis', () => {
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
    assert.match(found.assertFinding('rooms', 'bad', /is allkeys-lru: .* evicts rooms/), /noeviction/);
    assert.match(found.assertFinding('rooms', 'warning', /has no AOF/), /appendonly/);
    found.assertFinding('rooms', 'warning', /there is no key/);
    const accepted = await runDoctor(t, { ...env, POPROOM_ALLOW_EVICTION: 'true' });
    accepted.assertFinding('rooms', 'warning', /is allkeys-lru: .* evicts rooms/);
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

  it('[CLI-8] [NODE-21] says that it cannot use a replica', async (t) => {
    const redis = await startRedis(['--replicaof', '127.0.0.1', '1']);
    t.after(redis.stop);
    const found = await runDoctor(t, { POPROOM_SECRET, POPROOM_STORE: redis.url });
    found.assertFinding('rooms', 'bad', /cannot be used: it is a read-only replica; name its primary/);
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
    found.assertFinding('files', 'ok', /The bucket poproom-test works: .* written, read and deleted, .* in parts/);
    assert.deepEqual([found.problemCount, await s3.keys(), await readdir(TMPDIR)], [0, [], []]);
    assert.deepEqual(await s3.pendingUploads(), []);
  });

  it('[CLI-8] reports a store that does not support uploads in parts, or does not list them', async (t) => {
    const at = async (isRejected: (request: IncomingMessage) => boolean, code: string) => {
      const POPROOM_S3_ENDPOINT = await startFaultyS3(t, (request, response) => {
        if (!isRejected(request)) return forwardTo(s3.port)(request, response);
        request.resume().once('end', () => {
          response.writeHead(code === 'InvalidPart' ? 400 : 501, { 'content-type': 'application/xml' });
          response.end(s3Error(code, 'This store does not do that.'));
        });
      });
      return runDoctor(t, { ...s3.env, POPROOM_S3_ENDPOINT, POPROOM_FILES: `s3://${s3.bucket}/faulty` });
    };
    const [strict, without] = [
      await at(({ method, url = '' }) => method === 'POST' && url.includes('uploadId='), 'InvalidPart'),
      await at(({ method, url = '' }) => method === 'GET' && url.includes('uploads'), 'NotImplemented'),
    ];
    strict.assertFinding('files', 'bad', /does not store uploads in parts \(InvalidPart\): files over 16 MiB/);
    assert.match(without.assertFinding('files', 'warning', /does not list or abort unfinished uploads/), /lifecycle/);
    assert.deepEqual([await s3.keys(), await s3.pendingUploads()], [[], []]);
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

  it('[CLI-8] reports the wrong scheme, host style, host or certificate of a store', async (t) => {
    const tls = createServer(createCertificate(), (_, response) => response.end());
    await once(tls.listen(0, '127.0.0.1'), 'listening');
    t.after(() => tls.close());
    const { port } = tls.address() as AddressInfo;
    const at = (endpoint: string, more = {}) =>
      runDoctor(t, { ...s3.env, POPROOM_S3_ENDPOINT: endpoint, POPROOM_FILES: `s3://${s3.bucket}`, ...more });
    // One after another: on a busy machine, five of them at the same time exceed the time for a TLS handshake.
    const tlsToPlain = await at(s3.endpoint.replace('http:', 'https:'));
    const plainToTls = await at(`http://127.0.0.1:${port}`);
    const certificate = await at(`https://127.0.0.1:${port}`);
    const bucketHost = await at(`http://no-store.invalid:${s3.port}`, { POPROOM_S3_PATH_STYLE: 'false' });
    const host = await at('http://no-store.invalid');
    assert.match(tlsToPlain.assertFinding('files', 'bad', /does not use TLS on this port/), /http:\/\//);
    assert.match(plainToTls.assertFinding('files', 'bad', /closes the connection/), /https:\/\//);
    assert.match(certificate.assertFinding('files', 'bad', /certificate .* self-signed/), /NODE_EXTRA_CA_CERTS/);
    const noHost = bucketHost.assertFinding('files', 'bad', /There is no host named poproom-test\.no-store\.invalid/);
    assert.match(noHost, /POPROOM_S3_PATH_STYLE=true/);
    assert.match(host.assertFinding('files', 'bad', /There is no host named no-store\.invalid/), /POPROOM_S3_ENDPOINT/);
  });
});
