/** Records what a server acknowledged, and compares it with what the server has after a crash. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { createApi } from './api.ts';
import { assertError } from './assert-error.ts';

type Api = ReturnType<typeof createApi>;

export interface TrackedRoom {
  code: string;
  /** Texts by version, for writes that the server acknowledged. */
  acknowledged: Map<number, string>;
  /** Texts that were sent. Without a response, they may or may not be stored. */
  sent: Set<string>;
  files: Map<string, TrackedFile>;
}

export interface TrackedFile {
  hash: string;
  id?: string;
  state: 'sent' | 'there' | 'removing' | 'removed';
}

export function trackRoom(code: string): TrackedRoom {
  return { code, acknowledged: new Map([[0, '']]), sent: new Set(), files: new Map() };
}

export const hashOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** Fails unless the server has all acknowledged data. Data that was read now must survive the next crash, too. */
export async function assertAcknowledged(api: Api, room: TrackedRoom): Promise<void> {
  await assertText(api, room);
  await assertFiles(api, room);
}

/** Fails unless a room and its files are gone after an acknowledged deletion. */
export async function assertDeleted(api: Api, { code, files }: TrackedRoom): Promise<void> {
  assertError(await api.get(`/api/rooms/${code}`), 404, 'ROOM_NOT_FOUND');
  for (const { id } of files.values()) await assertFileMissing(api, id);
}

async function assertText(api: Api, { code, acknowledged, sent }: TrackedRoom): Promise<void> {
  const { status, json, headers } = await api.get(`/api/rooms/${code}/content`);
  assert.equal(status, 200, 'an acknowledged room exists');
  const version = Number(headers.get('etag')?.slice(1, -1));
  const newest = Math.max(...acknowledged.keys());
  assert.ok(version >= newest, `version ${newest} was acknowledged, but version ${version} is stored`);
  if (version === newest) assert.equal(json.content, acknowledged.get(newest), 'the acknowledged text is stored');
  else assert.ok(sent.has(json.content), 'a newer text is one that was sent');
  acknowledged.set(version, json.content);
}

async function assertFiles(api: Api, { code, files }: TrackedRoom): Promise<void> {
  const listed = new Map<string, { fileId: string; fileSize: number }>();
  for (const file of (await api.get(`/api/rooms/${code}/files`)).json.files) listed.set(file.fileName, file);
  for (const name of listed.keys()) assert.ok(files.has(name), 'every stored file was sent');
  for (const [name, file] of files) {
    const found = listed.get(name);
    if (file.state === 'there') assert.ok(found, 'an acknowledged file is stored');
    if (file.state === 'removed') assert.ok(!found, 'a file is gone after an acknowledged removal');
    if (found) await assertFileIntact(api, found, file.hash);
    else await assertFileMissing(api, file.id);
    if (found) file.id = found.fileId;
    file.state = found ? 'there' : 'removed';
  }
}

/** Without an acknowledgement, the id of a file is unknown. */
async function assertFileMissing(api: Api, id: string | undefined): Promise<void> {
  if (id !== undefined) assertError(await api.get(`/files/${id}/x`), 404, 'FILE_NOT_FOUND');
}

async function assertFileIntact(api: Api, { fileId, fileSize }: { fileId: string; fileSize: number }, hash: string) {
  const { status, text } = await api.get(`/files/${fileId}/x`);
  const bytes = Buffer.from(text);
  assert.deepEqual([status, bytes.length], [200, fileSize]);
  assert.equal(hashOf(bytes), hash, 'a listed file is complete');
}
