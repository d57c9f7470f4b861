import type { Redis } from '../../redis/connection.ts';

/**
 * Removes a key on another node of a cluster, which is harmless if it stays. The change itself has succeeded, so a
 * failure here must not fail the request.
 */
export async function clearUp(redis: Redis, key: string, command: readonly string[]): Promise<void> {
  await redis.send(key, command).catch(() => undefined);
}
