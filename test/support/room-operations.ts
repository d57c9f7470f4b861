/** Every operation on a room, for rules that apply to all of them. */
import type { Answer, Sending } from './api.ts';
import type { TestServer } from './server.ts';

type Api = TestServer['api'];

export interface RoomOperation {
  name: string;
  run(api: Api, room: string, sending?: Sending): Promise<Answer>;
  /** Its status where the room lets it in. */
  success: number;
}

const noFile = '0'.repeat(32);

/** The one that ends the room is the last. */
export const roomOperations: readonly RoomOperation[] = [
  { name: 'look', run: (api, room, sending) => api.get(`/api/rooms/${room}`, sending), success: 200 },
  { name: 'read', run: (api, room, sending) => api.get(`/api/rooms/${room}/content`, sending), success: 200 },
  {
    name: 'write',
    run: (api, room, sending) => api.post(`/api/rooms/${room}/content`, { ...sending, json: { content: 'x' } }),
    success: 200,
  },
  { name: 'upload bare', run: (api, room, sending) => api.upload(room, 'a.txt', 'abc', sending), success: 201 },
  {
    name: 'upload a form',
    run: (api, room, sending) => api.post(`/api/rooms/${room}/upload`, { ...sending, body: form() }),
    success: 201,
  },
  { name: 'list', run: (api, room, sending) => api.get(`/api/rooms/${room}/files`, sending), success: 200 },
  {
    name: 'remove a file',
    run: (api, room, sending) => api.delete(`/api/rooms/${room}/files/${noFile}`, sending),
    success: 404,
  },
  { name: 'delete', run: (api, room, sending) => api.delete(`/api/rooms/${room}`, sending), success: 200 },
];

function form(): FormData {
  const fields = new FormData();
  fields.set('file', new Blob(['abc']), 'a.txt');
  return fields;
}
