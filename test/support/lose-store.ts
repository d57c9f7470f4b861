/** Makes the stores of a running server fail for real, on either engine. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isDistributed } from './engine.ts';
import { loseTables } from './inside-sqlite.ts';
import type { TestServer } from './server.ts';

/** The database has no rooms any more, or Redis has ended. Returns what the log then names as the cause. */
export async function loseStore(server: TestServer): Promise<RegExp> {
  if (!isDistributed) {
    await loseTables(server.folder, 'rooms', 'room_count');
    return /no such table/;
  }
  const { startRedis } = await import('./redis.ts');
  // One of its own: others need the common one.
  const redis = await startRedis();
  try {
    await server.restart({ POPROOM_STORE: redis.url });
  } finally {
    await redis.stop();
  }
  return /ECONNREFUSED|Socket closed|The client is (offline|closed)/;
}

/** The folder of the files is gone, or the S3 store has ended. */
export async function loseFiles(server: TestServer): Promise<void> {
  if (!isDistributed) return rm(join(server.folder, 'files'), { recursive: true });
  const { startS3 } = await import('./s3.ts');
  const s3 = await startS3();
  try {
    await server.restart({ POPROOM_S3_ENDPOINT: s3.endpoint });
  } finally {
    await s3.stop();
  }
}
