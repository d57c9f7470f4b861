/** What uploads have left on the disk. */
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from './eventually.ts';
import type { TestServer } from './server.ts';

/** Names of all files under `files/` of a data folder, the unfinished ones with their folder. */
export async function storedBlobs(dataFolder: string): Promise<string[]> {
  const entries = await readdir(join(dataFolder, 'files'), { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ name, parentPath }) => join(parentPath, name));
}

export async function unfinishedBlobs(dataFolder: string): Promise<string[]> {
  return readdir(join(dataFolder, 'files', 'unfinished'));
}

/** A sender that leaves is noticed a moment later, so this waits a little. */
export async function assertNothingStays({ folder, api }: TestServer, room: string, pin?: string): Promise<void> {
  await eventually('no bytes are left', async () => (await storedBlobs(folder)).length === 0);
  const { json } = await api.get(`/api/rooms/${room}/files`, pin === undefined ? {} : { pin });
  assert.deepEqual(json.files, []);
}
