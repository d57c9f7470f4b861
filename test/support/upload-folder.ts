/** The remains of uploads on either engine: complete and incomplete files. */
import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { bucketOf } from './bucket.ts';
import { storedBlobs as blobsOnDisk } from './data-folder.ts';
import { eventually } from './eventually.ts';
import type { TestServer } from './server.ts';

/** Where they are, by paths from `files/` or from the prefix of the bucket. */
export async function storedBlobs(server: TestServer): Promise<string[]> {
  const bucket = await bucketOf(server);
  if (bucket) return [...(await bucket.names()), ...(await unfinishedBlobs(server))];
  return (await blobsOnDisk(server.folder)).map((path) => relative(join(server.folder, 'files'), path));
}

export async function readBlob(server: TestServer, path: string): Promise<Buffer> {
  const bucket = await bucketOf(server);
  return bucket ? bucket.read(path) : readFile(join(server.folder, 'files', path));
}

/** Puts these bytes there, whatever the server knows of them. */
export async function writeBlob(server: TestServer, path: string, text: string): Promise<void> {
  const bucket = await bucketOf(server);
  if (bucket) return bucket.write(path, text);
  await mkdir(dirname(join(server.folder, 'files', path)), { recursive: true });
  await writeFile(join(server.folder, 'files', path), text);
}

/** Bytes that no room names, as a crash leaves them. Returns their path. */
export async function leaveStray(server: TestServer, name: string): Promise<string> {
  const path = (await bucketOf(server)) ? name : join(name.slice(0, 2), name);
  await writeBlob(server, path, 'stray');
  return path;
}

/** The beginning of an upload, as a crash leaves it. */
export async function leaveUnfinished(server: TestServer, name: string): Promise<void> {
  await writeFile(join(unfinishedFolder(server), name), 'half of it');
}

export async function unfinishedBlobs(server: TestServer): Promise<string[]> {
  return readdir(unfinishedFolder(server));
}

/** From here on, every upload fails for a reason that nobody has foreseen. */
export async function loseUploadFolder(server: TestServer): Promise<void> {
  await rm(unfinishedFolder(server), { recursive: true });
}

/** A sender that leaves is noticed a moment later, so this waits a little. */
export async function assertNothingStays(server: TestServer, room: string, pin?: string): Promise<void> {
  await eventually('no bytes are left', async () => (await storedBlobs(server)).length === 0);
  const { json } = await server.api.get(`/api/rooms/${room}/files`, pin === undefined ? {} : { pin });
  assert.deepEqual(json.files, []);
}

function unfinishedFolder({ folder, settings }: TestServer): string {
  return settings.POPROOM_FILES?.startsWith('s3:') ? join(folder, 'spool') : join(folder, 'files', 'unfinished');
}
