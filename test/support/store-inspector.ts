/** Reads and manipulates the stored data of a server, on either engine. */

import type { TestServer } from './server.ts';
import { sqliteInspector } from './sqlite-inspector.ts';

export interface StoreInspector {
  counts(): Promise<StoredCounts>;
  /** The HMAC of the PIN of a room. */
  pinMac(room: string): Promise<Buffer>;
  /** All stored bytes. */
  bytes(): Promise<Buffer>;
  /** All text and numbers of rooms and counters. Hashes are left out, because they may contain any digits. */
  values(): Promise<string>;
  /** Gives a room another code, as if the server had generated it. */
  changeCode(from: string, to: string): Promise<void>;
  /** Writes version 2 of a text without notifying the server. */
  writeSecondText(room: string, content: string): Promise<void>;
  /** Makes a room unreadable. Returns the error message of the store for reads of it. */
  corrupt(code: string): Promise<string>;
}

export interface StoredCounts {
  rooms: number;
  files: number;
  /** Blobs that are still to be deleted. */
  trash: number;
}

export async function inspectStore(server: TestServer): Promise<StoreInspector> {
  if (!server.settings.POPROOM_STORE?.startsWith('redis:')) return sqliteInspector(server.folder);
  // Loaded on demand, because tests of the embedded engine do not need the client.
  const { redisInspector } = await import('./redis-inspector.ts');
  return redisInspector(server.settings.POPROOM_STORE);
}

export async function countRooms(server: TestServer): Promise<number> {
  return (await (await inspectStore(server)).counts()).rooms;
}
