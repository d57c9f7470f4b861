import type { Redis } from '../../redis/connection.ts';

/**
 * Clears what lies elsewhere on a cluster, and misleads nobody should it stay. The change that it follows on is done:
 * whoever asked for that must not be told that it failed.
 */
export async function clearUp(redis: Redis, key: string, command: readonly string[]): Promise<void> {
  await redis.send(key, command).catch(() => undefined);
}
