/** Links of test rooms. */
import type { LinkRole } from '../../src/protocol/link-rights.ts';
import type { TestServer } from './server.ts';

export interface TestLinks {
  room: string;
  read: string;
  drop: string;
}

type Api = Pick<TestServer, 'api'>;

/** Returns the id of a new link. */
export async function createLink({ api }: Api, room: string, role: LinkRole, more: object = {}): Promise<string> {
  const { json } = await api.post(`/api/rooms/${room}/links`, { json: { role, ...more } });
  return json.linkId;
}

/** A room with a link of each role. */
export async function roomWithLinks(server: Api, newRoom: { pin?: string; name?: string } = {}): Promise<TestLinks> {
  const room = await server.api.room(newRoom);
  const create = async (role: LinkRole) => {
    const pin = newRoom.pin === undefined ? {} : { pin: newRoom.pin };
    const { json } = await server.api.post(`/api/rooms/${room}/links`, { json: { role }, ...pin });
    return json.linkId as string;
  };
  return { room, read: await create('read'), drop: await create('drop') };
}

export const revokeLink = ({ api }: Api, room: string, link: string) => api.delete(`/api/rooms/${room}/links/${link}`);
