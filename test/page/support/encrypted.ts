/** Encrypted rooms in tests of the page. They are named as in their links: `CODE#KEY`. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { createClient, type Room } from '../../../src/client/index.ts';
import { type MaliciousServer, startMaliciousServer } from '../../support/malicious-server.ts';
import { type BrowserDevice, codeOf, startRoom, startTestSite, type TestSite } from '../../support/page.ts';

/** Each kind of room, and how a program creates it. */
export const roomKinds = {
  plain: ({ server }: TestSite): Promise<string> => server.api.room(),
  encrypted: createEncryptedRoom,
};

export type RoomKind = keyof typeof roomKinds;

export async function createEncryptedRoom({ server: { url } }: TestSite): Promise<string> {
  const room = await createClient({ url, deviceId: 'script' }).createRoom({ encrypted: true });
  const name = room.link.split('/r/')[1] ?? assert.fail(room.link);
  opened.set(`${url}/r/${name}`, room);
  return name;
}

/** A site whose server is malicious: a proxy that records and changes messages. */
export async function startMaliciousSite(
  t: TestContext,
  env: Record<string, string> = {},
): Promise<{ site: TestSite; proxy: MaliciousServer }> {
  const site = await startTestSite(t, env);
  const proxy = await startMaliciousServer(t, () => site.server.port);
  const openDevice: TestSite['openDevice'] = (options) => site.openDevice({ ...options, baseURL: proxy.url });
  return { site: { server: site.server, openDevice }, proxy };
}

/** Starts an encrypted room on this device. */
export async function startEncryptedRoom(device: BrowserDevice): Promise<string> {
  const option = device.page.getByRole('checkbox', { name: 'Encrypt this room' });
  if (!(await option.isVisible())) await device.page.getByText('Options').click();
  await option.check();
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
