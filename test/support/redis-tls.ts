/** Redis and a Sentinel with TLS, and a certificate created for the test. */
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, startRedis } from './redis.ts';

export interface RedisOverTls {
  /** The URL of the server, without Sentinel. */
  readonly url: string;
  readonly sentinelUrl: string;
  /** The certificate authority of both. */
  readonly caFile: string;
  stop(): Promise<void>;
}

export async function startRedisOverTls(): Promise<RedisOverTls> {
  const folder = await mkdtemp(join(tmpdir(), 'poproom-tls-'));
  const [key, caFile] = makeCertificate(folder);
  const tls = ['--tls-key-file', key, '--tls-cert-file', caFile, '--tls-ca-cert-file', caFile];
  const common = [...tls, '--tls-auth-clients', 'no', '--tls-replication', 'yes'];
  const [serverPort, sentinelPort] = [await freePort(), await freePort()];
  const server = await startRedis([...common, '--tls-port', String(serverPort)]);
  const monitor = `sentinel monitor poproom 127.0.0.1 ${serverPort} 1`;
  const sentinel = await startRedis(['--sentinel', ...common, '--tls-port', String(sentinelPort)], [monitor]);
  return {
    url: `rediss://127.0.0.1:${serverPort}`,
    sentinelUrl: `rediss://127.0.0.1:${sentinelPort}?sentinel=poproom`,
    caFile,
    async stop() {
      await Promise.all([sentinel.stop(), server.stop()]);
      await rm(folder, { recursive: true });
    },
  };
}

function makeCertificate(folder: string): [key: string, certificate: string] {
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  const names = ['-subj', '/CN=Redis of a test', '-addext', 'subjectAltName=IP:127.0.0.1'];
  try {
    execFileSync('openssl', ['req', ...kind, ...names, '-keyout', key, '-out', certificate], { stdio: 'pipe' });
  } catch (cause) {
    throw new Error('The test of TLS needs openssl: on Debian, "sudo apt-get install openssl".', { cause });
  }
  return [key, certificate];
}
