/** Encrypted rooms in tests of the page. They are named as in their links: `CODE#KEY`. */
import assert from 'node:assert/strict';
import { createClient, type Room } from '../../../src/client/index.ts';
import { type BrowserDevice, codeOf, startRoom, type TestSite } from '../../support/page.ts';

/** Each kind of room, and how a program creates it. */
export const roomKinds = {
  plain: ({ server }: TestSite): Promise<string> => server.api.room(),
  encrypted: createEncryptedRoom,
};

export type RoomKind = keyof typeof roomKinds;

export async function createEncryptedRoom({ server: { url } }: TestSite): Promise<string> {
  const { link } = await createClient({ url, deviceId: 'script' }).createRoom({ encrypted: true });
  return link.split('/r/')[1] ?? assert.fail(link);
}

/** Starts an encrypted room on this device. */
export async function startEncryptedRoom(device: BrowserDevice): Promise<string> {
  await device.page.getByRole('checkbox', { name: 'Encrypt this room' }).check();
  const code = await startRoom(device);
  return `${code}#${await keyIn(device)}`;
}

/** The key that the page of a room has. */
export async function keyIn({ page }: BrowserDevice): Promise<string> {
  const stored = await page.evaluate((name) => sessionStorage.getItem(name), `poproom:key:${codeOf(page)}`);
  return JSON.parse(stored ?? assert.fail('the page has no key'));
}

const opened = new Map<string, Room>();

/** The room as a program sees it. Deriving its keys takes long, so it is opened once. */
export function roomOf({ server: { url } }: TestSite, name: string): Room {
  const link = `${url}/r/${name}`;
  const room = opened.get(link) ?? createClient({ url, deviceId: 'script' }).room(link);
  opened.set(link, room);
  return room;
}
