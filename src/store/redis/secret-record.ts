/** The fingerprint of the secret in Redis, the same for every node. */
import type { SecretRecord } from '../../core/ports.ts';
import type { Redis } from '../../redis/connection.ts';
import type { Keys } from './keys.ts';

export function createSecretRecord(redis: Redis, { secretRecord: key }: Keys): SecretRecord {
  async function find(): Promise<string | undefined> {
    const stored = await redis.send(key, ['GET', key]);
    return stored === null ? undefined : String(stored);
  }

  return {
    find,
    async keep(fingerprint) {
      await redis.send(key, ['SET', key, fingerprint, 'NX']);
      return (await find()) ?? fingerprint;
    },
    async replace(fingerprint) {
      await redis.send(key, ['SET', key, fingerprint]);
    },
  };
}
