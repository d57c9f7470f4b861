/** Creates rooms, files and keys, and reads everything that the API returns of them. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { hashOf } from './acknowledged.ts';
import { adminOf } from './admin.ts';
import type { createApi } from './api.ts';
import { runHere, type ServerProcess } from './process.ts';

type Api = ReturnType<typeof createApi>;

export interface SampleData {
  rooms: { code: string; pin: string | undefined }[];
  keys: { valid: string; revoked: string };
}

export const webhookUrl = 'http://127.0.0.1:9/hook';
const MiB = 1024 * 1024;
const oddText = 'fileCount\u0000 \u{1f468}\u200d\u{1f469}\u200d\u{1f467} "\\" \r\n\u2028 e\u0301 <script> 1e400';

export async function createSampleData({ api }: ServerProcess, dataDir: string): Promise<SampleData> {
  const [odd, secret, fresh] = [await api.room(), await api.room({ pin: '0427' }), await api.room({ expiresIn: 7200 })];
  await write(api, odd, 'an earlier text, which is in the history');
  await write(api, odd, oddText);
  await api.patch(`/api/rooms/${odd}/content`, { json: { append: '!' }, headers: { 'x-device-id': 'phone' } });
  for (const text of ['first', 'second', 'version']) await write(api, secret, text, '0427');
  await upload(api, odd, 'empty.txt', Buffer.alloc(0));
  await upload(api, odd, 'pä "per" \u{1f4c4}.bin', randomBytes(70_001));
  await upload(api, odd, 'large.bin', randomBytes(10 * MiB));
  await upload(api, secret, 'one byte', Buffer.from('x'), '0427');
  for (const role of ['read', 'drop'])
    await api.post(`/api/rooms/${secret}/links`, { json: { role, name: 'Guests' }, pin: '0427' });
  // Only on a server that allows this host. No event of this type happens.
  await api.post(`/api/rooms/${secret}/webhooks`, { json: { url: webhookUrl, events: ['room'] }, pin: '0427' });
  await report(api, secret, { reason: 'malware', comment: oddText }, '0427');
  const many = await Promise.all(Array.from({ length: 40 }, (_, n) => smallRoom(api, n)));
  const rooms = [odd, fresh, ...many].map((code) => ({ code, pin: undefined as string | undefined }));
  await reportEndedRoom(api);
  return { rooms: [...rooms, { code: secret, pin: '0427' }], keys: await makeKeys(dataDir) };
}

async function smallRoom(api: Api, n: number): Promise<string> {
  const code = await api.room();
  await write(api, code, `text ${n}`);
  if (n % 4 === 0) await upload(api, code, `file ${n}`, randomBytes(200_000 + n));
  return code;
}

async function write(api: Api, code: string, content: string, pin?: string): Promise<void> {
  const sending = { json: { content }, ...(pin !== undefined && { pin }) };
  assert.equal((await api.post(`/api/rooms/${code}/content`, sending)).status, 200);
}

async function upload(api: Api, code: string, name: string, bytes: Buffer, pin?: string): Promise<void> {
  const body = new Uint8Array(bytes);
  assert.equal((await api.upload(code, name, body, pin === undefined ? {} : { pin })).status, 201);
}

async function reportEndedRoom(api: Api): Promise<void> {
  const code = await api.room();
  await report(api, code, { reason: 'other' });
  assert.equal((await api.delete(`/api/rooms/${code}`)).status, 200);
}

/** Only on a server with an admin token and a contact. */
async function report(api: Api, code: string, json: object, pin?: string): Promise<void> {
  await api.post(`/api/rooms/${code}/reports`, { json, ...(pin !== undefined && { pin }) });
}

async function makeKeys(dataDir: string): Promise<SampleData['keys']> {
  const make = async (name: string) =>
    (await runHere(['keys', 'create', name], { POPROOM_DATA_DIR: dataDir })).stdout.trim();
  const keys = { valid: await make('laptop'), revoked: await make('phone') };
  await runHere(['keys', 'revoke', 'phone'], { POPROOM_DATA_DIR: dataDir });
  return keys;
}

/** Returns equal values for two servers with equal data. */
export async function readSampleData(server: ServerProcess, { rooms, keys }: SampleData): Promise<unknown> {
  const statusWith = async (key: string) => {
    const headers = { authorization: `Bearer ${key}` };
    const { status } = await server.api.get(`/api/rooms/${rooms[0]?.code}`, { headers });
    return status;
  };
  return {
    rooms: await Promise.all(rooms.map((room) => readRoom(server, room))),
    keys: [await statusWith(keys.valid), await statusWith(keys.revoked)],
    reports: (await adminOf(server).get('/reports')).json,
  };
}

async function readRoom({ api, url }: ServerProcess, { code, pin }: SampleData['rooms'][number]): Promise<unknown> {
  const sending = pin === undefined ? {} : { pin };
  const [room, text, history, listed, links, webhooks] = await Promise.all([
    api.get(`/api/rooms/${code}`, sending),
    api.get(`/api/rooms/${code}/content`, sending),
    api.get(`/api/rooms/${code}/history`, sending),
    api.get(`/api/rooms/${code}/files`, sending),
    api.get(`/api/rooms/${code}/links`, sending),
    api.get(`/api/rooms/${code}/webhooks`, sending),
  ]);
  const withoutPin = pin === undefined ? undefined : await api.get(`/api/rooms/${code}`);
  const files = listed.json.files as { fileUrl: string }[];
  return {
    room: { ...room.json, deviceCount: undefined },
    text: [text.status, text.json, text.headers.get('etag')],
    history: history.json,
    files: await Promise.all(files.map(async ({ fileUrl, ...file }) => ({ ...file, hash: await hashAt(fileUrl) }))),
    addresses: files.map(({ fileUrl }) => fileUrl.replace(url, '')),
    withoutPin: withoutPin?.code,
    links: await Promise.all(links.json.links.map((each: { linkId: string }) => readLink(api, each))),
    webhooks: webhooks.json,
  };
}

/** Its URL depends on the server, and its last use on the test. */
async function readLink(api: Api, { link: _, lastUsed: __, ...link }: Record<string, string>): Promise<unknown> {
  return { ...link, status: (await api.get(`/api/rooms/${link.linkId}`)).status };
}

async function hashAt(url: string): Promise<string> {
  const response = await fetch(url);
  assert.equal(response.status, 200);
  return hashOf(new Uint8Array(await response.arrayBuffer()));
}
