/** Records what a server acknowledged, and compares it with what the server has after a crash. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { createApi } from './api.ts';
import { assertError } from './assert-error.ts';

type Api = ReturnType<typeof createApi>;

export interface RoomMemory {
  code: string;
  /** Texts by the version that their write was answered with. */
  answered: Map<number, string>;
  /** Texts that were sent; without an answer, they may be there or not. */
  sent: Set<string>;
  files: Map<string, FileMemory>;
}

export interface FileMemory {
  hash: string;
  id?: string;
  state: 'sent' | 'there' | 'removing' | 'removed';
}

export function rememberRoom(code: string): RoomMemory {
  return { code, answered: new Map([[0, '']]), sent: new Set(), files: new Map() };
}

export const hashOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** Fails unless all that was answered is there. What is found is remembered: it must not go with the next crash. */
export async function assertRemembered(api: Api, room: RoomMemory): Promise<void> {
  await assertText(api, room);
  await assertFiles(api, room);
}

/** Fails unless nothing is there of a room whose deletion was answered: not the room, and none of its files. */
export async function assertGone(api: Api, { code, files }: RoomMemory): Promise<void> {
  assertError(await api.get(`/api/rooms/${code}`), 404, 'ROOM_NOT_FOUND');
  for (const { id } of files.values()) await assertDead(api, id);
}

async function assertText(api: Api, { code, answered, sent }: RoomMemory): Promise<void> {
  const { status, json, headers } = await api.get(`/api/rooms/${code}/content`);
  assert.equal(status, 200, 'an answered room is there');
  const version = Number(headers.get('etag')?.slice(1, -1));
  const newest = Math.max(...answered.keys());
  assert.ok(version >= newest, `version ${newest} was answered, version ${version} is there`);
  if (version === newest) assert.equal(json.content, answered.get(newest), 'the answered text is there');
  else assert.ok(sent.has(json.content), 'a newer text is one that was sent');
  answered.set(version, json.content);
}

async function assertFiles(api: Api, { code, files }: RoomMemory): Promise<void> {
  const listed = new Map<string, { fileId: string; fileSize: number }>();
  for (const file of (await api.get(`/api/rooms/${code}/files`)).json.files) listed.set(file.fileName, file);
  for (const name of listed.keys()) assert.ok(files.has(name), 'no file is there that was not sent');
  for (const [name, file] of files) {
    const found = listed.get(name);
    if (file.state === 'there') assert.ok(found, 'an answered file is there');
    if (file.state === 'removed') assert.ok(!found, 'a file whose removal was answered is gone');
    if (found) await assertWhole(api, found, file.hash);
    else await assertDead(api, file.id);
    if (found) file.id = found.fileId;
    file.state = found ? 'there' : 'removed';
  }
}

/** Of a file that was never answered, nobody knows the address. */
async function assertDead(api: Api, id: string | undefined): Promise<void> {
  if (id !== undefined) assertError(await api.get(`/files/${id}/x`), 404, 'FILE_NOT_FOUND');
}

async function assertWhole(api: Api, { fileId, fileSize }: { fileId: string; fileSize: number }, hash: string) {
  const { status, text } = await api.get(`/files/${fileId}/x`);
  const bytes = Buffer.from(text);
  assert.deepEqual([status, bytes.length], [200, fileSize]);
  assert.equal(hashOf(bytes), hash, 'a listed file is whole');
}
