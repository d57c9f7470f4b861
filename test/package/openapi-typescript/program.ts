/** A program whose types are generated from the OpenAPI document. It is compiled and run in a folder of its own. */
import createClient from 'openapi-fetch';
import type { components, paths } from './schema.d.ts';

const client = createClient<paths>({ baseUrl: process.argv[2] ?? '' });

const { data: created, response } = await client.POST('/api/rooms', { body: { expiresIn: 600, name: 'Generated' } });
if (!created) throw new Error(`no room: ${response.status}`);
const params = { path: { roomId: created.roomId } };
const link: string | undefined = created.link;

const written = await client.POST('/api/rooms/{roomId}/content', { params, body: { content: 'typed' } });
const version: number | undefined = written.data?.version;
const edited = await client.PATCH('/api/rooms/{roomId}/content', { params, body: { append: '!' } });
const read = await client.GET('/api/rooms/{roomId}/content', { params });
// The endpoint can also send the bare text.
const text = typeof read.data === 'object' ? read.data.content : read.data;

const stale = { ...params, header: { 'If-Match': '"0"' } };
const conflict = await client.POST('/api/rooms/{roomId}/content', { params: stale, body: { content: 'late' } });
const code: components['schemas']['ErrorBody']['error']['code'] | undefined = conflict.error?.error.code;

const form = new FormData();
form.set('file', new Blob(['a,b\n'], { type: 'text/csv' }), 'table.csv');
const uploaded = await client.POST('/api/rooms/{roomId}/upload', {
  params,
  body: { file: '' },
  bodySerializer: () => form,
});
const listed = await client.GET('/api/rooms/{roomId}/files', { params });
const [file] = listed.data?.files ?? [];
const removed = await client.DELETE('/api/rooms/{roomId}', { params });

console.log(
  JSON.stringify({
    link: link?.endsWith(`/r/${created.roomId}`),
    version,
    edited: edited.data?.version,
    text,
    conflict: [conflict.response.status, code],
    file: [uploaded.data?.fileId === file?.fileId, file?.fileName, file?.contentType, file?.fileSize],
    removed: removed.data?.success,
  }),
);
