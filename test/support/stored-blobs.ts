/** The stored files of a server on either engine, complete and incomplete. */
import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { bucketOf } from './bucket.ts';
import { storedBlobs as blobsOnDisk } from './data-folder.ts';
import { eventually } from './eventually.ts';
import type { TestServer } from './server.ts';

/** Their paths, relative to `files/` or to the prefix of the bucket. */
export async function storedBlobs(server: TestServer): Promise<string[]> {
  const bucket = await bucketOf(server);
  if (bucket) return [...(await bucket.names()), ...(await unfinishedBlobs(server))];
  return (await blobsOnDisk(server.folder)).map((path) => relative(join(server.folder, 'files'), path));
}

export async function readBlob(server: TestServer, path: string): Promise<Buffer> {
  const bucket = await bucketOf(server);
  return bucket ? bucket.read(path) : readFile(join(server.folder, 'files', path));
}

/** Writes a blob that the server does not know. */
export async function writeBlob(server: TestServer, path: string, text: string): Promise<void> {
  const bucket = await bucketOf(server);
  if (bucket) return bucket.write(path, text);
  await mkdir(dirname(join(server.folder, 'files', path)), { recursive: true });
  await writeFile(join(server.folder, 'files', path), text);
}

/** Writes a blob that is in no room, as after a crash. Returns its path. */
export async function createOrphanBlob(server: TestServer, name: string): Promise<string> {
  const path = (await bucketOf(server)) ? name : join(name.slice(0, 2), name);
  await writeBlob(server, path, 'orphan');
  return path;
}

/** Writes the start of an upload, as after a crash. */
export async function createUnfinishedUpload(server: TestServer, name: string): Promise<void> {
  await writeFile(join(unfinishedFolder(server), name), 'half of it');
}

export async function unfinishedBlobs(server: TestServer): Promise<string[]> {
  return readdir(unfinishedFolder(server));
}

/** From now on, every upload fails with an unexpected error. */
export async function removeUploadFolder(server: TestServer): Promise<void> {
  await rm(unfinishedFolder(server), { recursive: true });
}

/** Waits, because the server notices a disconnected sender with a delay. */
export async function assertNothingStored(server: TestServer, room: string, pin?: string): Promise<void> {
  await eventually('no blobs are left', async () => (await storedBlobs(server)).length === 0);
  const { json } = await server.api.get(`/api/rooms/${room}/files`, pin === undefined ? {} : { pin });
  assert.deepEqual(json.files, []);
}

function unfinishedFolder({ folder, settings }: TestServer): string {
  return settings.POPROOM_FILES?.startsWith('s3:') ? join(folder, 'spool') : join(folder, 'files', 'unfinished');
}
