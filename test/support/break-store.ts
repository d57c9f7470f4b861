/** Causes real failures of the stores of a running server, on either engine. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isDistributed } from './engine.ts';
import type { TestServer } from './server.ts';
import { removeTables } from './sqlite-inspector.ts';

/** Removes the tables of the rooms, or stops Redis. Returns the cause that the log should name. */
export async function breakStore(server: TestServer): Promise<RegExp> {
  if (!isDistributed) {
    await removeTables(server.folder, 'rooms', 'room_count');
    return /no such table/;
  }
  const { startRedis } = await import('./redis.ts');
  // Other tests need the shared Redis, so stop a separate one.
  const redis = await startRedis();
  try {
    await server.restart({ POPROOM_STORE: redis.url });
  } finally {
    await redis.stop();
  }
  return /ECONNREFUSED|Socket closed|The client is (offline|closed)/;
}

/** Removes the folder of the files, or stops the S3 store. */
export async function breakFileStore(server: TestServer): Promise<void> {
  if (!isDistributed) return rm(join(server.folder, 'files'), { recursive: true });
  const { startS3 } = await import('./s3.ts');
  const s3 = await startS3();
  try {
    await server.restart({ POPROOM_S3_ENDPOINT: s3.endpoint });
  } finally {
    await s3.stop();
  }
}
