/** Requests of the tus protocol. */
import assert from 'node:assert/strict';
import type { ApiResponse, createApi } from './api.ts';

type Api = ReturnType<typeof createApi>;
type Headers = Record<string, string>;

export const tus = { 'tus-resumable': '1.0.0' };
export const partType = { 'content-type': 'application/offset+octet-stream' };

export function createUpload(api: Api, room: string, size: number | string, headers: Headers = {}) {
  return api.post(`/api/rooms/${room}/uploads`, { headers: { ...tus, 'upload-length': String(size), ...headers } });
}

/** Returns the path of the upload. */
export async function startUpload(api: Api, room: string, size: number, headers: Headers = {}): Promise<string> {
  return pathIn(await createUpload(api, room, size, headers));
}

/** The path in the response to a creation. */
export function pathIn(created: ApiResponse): string {
  assert.equal(created.status, 201, created.text);
  return new URL(created.headers.get('location') ?? '').pathname;
}

export function sendPart(
  api: Api,
  path: string,
  offset: number | string,
  body: Buffer | string,
  headers: Headers = {},
) {
  return api.patch(path, {
    headers: { ...tus, ...partType, 'upload-offset': String(offset), ...headers },
    body: typeof body === 'string' ? body : new Uint8Array(body),
  });
}

export async function offsetOf(api: Api, path: string): Promise<number> {
  const { status, headers } = await api.call('HEAD', path, { headers: tus });
  assert.equal(status, 200);
  return Number(headers.get('upload-offset'));
}

export function metadata(values: Record<string, string>): string {
  return Object.entries(values)
    .map(([key, value]) => `${key} ${Buffer.from(value).toString('base64')}`)
    .join(',');
}
