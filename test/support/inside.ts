/** Searches the stored data of a server, on either engine. */
import { sqliteInside } from './inside-sqlite.ts';
import type { TestServer } from './server.ts';

export interface Inside {
  counts(): Promise<Counts>;
  /** What stands for the PIN of a room. */
  pinMac(room: string): Promise<Buffer>;
  /** Every byte. */
  bytes(): Promise<Buffer>;
  /** All text and all numbers of rooms and counters, without the hashes, which may hold any digits by chance. */
  values(): Promise<string>;
  /** Gives a room another code, as if that had been drawn. */
  rename(from: string, to: string): Promise<void>;
  /** Writes the second text of a room, of which the server has not heard yet. */
  writeSecond(room: string, content: string): Promise<void>;
  /** Puts something else in the place of a room. Returns what the store says to whoever reads it. */
  spoil(code: string): Promise<string>;
}

export interface Counts {
  rooms: number;
  files: number;
  /** Blobs that are still to be removed. */
  trash: number;
}

export async function insideOf(server: TestServer): Promise<Inside> {
  if (!server.settings.POPROOM_STORE?.startsWith('redis:')) return sqliteInside(server.folder);
  // Only here: the tests of the embedded engine need not load the client.
  const { redisInside } = await import('./inside-redis.ts');
  return redisInside(server.settings.POPROOM_STORE);
}

export async function roomsIn(server: TestServer): Promise<number> {
  return (await (await insideOf(server)).counts()).rooms;
}
