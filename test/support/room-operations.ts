/** Every operation on a room, for rules that apply to all of them. */
import type { ApiResponse, RequestOptions } from './api.ts';
import type { TestServer } from './server.ts';

type Api = TestServer['api'];

export interface RoomOperation {
  name: string;
  run(api: Api, room: string, options?: RequestOptions): Promise<ApiResponse>;
  /** Its status if the caller may access the room. */
  success: number;
}

const noFile = '0'.repeat(32);

/** The last operation deletes the room. */
export const roomOperations: readonly RoomOperation[] = [
  { name: 'look', run: (api, room, options) => api.get(`/api/rooms/${room}`, options), success: 200 },
  { name: 'read', run: (api, room, options) => api.get(`/api/rooms/${room}/content`, options), success: 200 },
  {
    name: 'write',
    run: (api, room, options) => api.post(`/api/rooms/${room}/content`, { ...options, json: { content: 'x' } }),
    success: 200,
  },
  { name: 'upload raw', run: (api, room, options) => api.upload(room, 'a.txt', 'abc', options), success: 201 },
  {
    name: 'upload a form',
    run: (api, room, options) => api.post(`/api/rooms/${room}/upload`, { ...options, body: form() }),
    success: 201,
  },
  { name: 'list', run: (api, room, options) => api.get(`/api/rooms/${room}/files`, options), success: 200 },
  {
    name: 'remove a file',
    run: (api, room, options) => api.delete(`/api/rooms/${room}/files/${noFile}`, options),
    success: 404,
  },
  {
    name: 'claim a file',
    run: (api, room, options) => api.post(`/api/rooms/${room}/files/${noFile}/claim`, options),
    success: 404,
  },
  {
    name: 'confirm a claim',
    run: (api, room, options) => api.post(`/api/rooms/${room}/claims/${noFile}/done`, options),
    success: 404,
  },
  {
    name: 'release a claim',
    run: (api, room, options) => api.delete(`/api/rooms/${room}/claims/${noFile}`, options),
    success: 404,
  },
  {
    name: 'change the room',
    run: (api, room, options) => api.patch(`/api/rooms/${room}`, { ...options, json: { name: 'x' } }),
    success: 200,
  },
  { name: 'delete', run: (api, room, options) => api.delete(`/api/rooms/${room}`, options), success: 200 },
];

function form(): FormData {
  const fields = new FormData();
  fields.set('file', new Blob(['abc']), 'a.txt');
  return fields;
}
