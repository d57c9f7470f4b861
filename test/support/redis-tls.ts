/** Redis and a Sentinel with TLS, and a certificate created for the test. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeCertificate } from './certificate.ts';
import { freePort } from './listen.ts';
import { startRedis } from './redis.ts';

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
  const { key, cert: caFile } = writeCertificate(folder);
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
