/** Encrypted rooms in the page. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createClient } from '../../src/client/index.ts';
import { eventually } from '../support/eventually.ts';
import { codeOf, joinRoom, sharedTestSite, showsStatus, showsText, type TestSite, textOf } from '../support/page.ts';

const createRoom = ({ server }: TestSite) =>
  createClient({ url: server.url, deviceId: 'script', deviceName: 'Script' }).createRoom({ encrypted: true });

const keyOf = (link: string) => link.split('#')[1] ?? assert.fail(link);

describe('the page, encrypted rooms', () => {
  it('[SEALED-60] are opened by a link with the key, which leaves the address bar and survives a reload', async (t) => {
    const site = await sharedTestSite(t);
    const room = await createRoom(site);
    await room.write('from the script');
    const device = await joinRoom(site, `${room.code}#${keyOf(room.link)}`);
    await showsText(device, 'from the script');
    assert.equal(codeOf(device.page), room.code);
    await textOf(device).fill('from the page');
    await showsStatus(device, 'Saved');
    await eventually('the text is stored', async () => (await room.read()).content === 'from the page');
    await room.append('!');
    await showsText(device, 'from the page!');
    await device.page.reload();
    await showsText(device, 'from the page!');
  });
});
