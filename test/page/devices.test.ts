/** The devices in a room: their names, joining and leaving, and wrong PIN attempts. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { type BrowserDevice, joinRoom, sharedTestSite, startRoom, startTestSite } from '../support/page.ts';

const android =
  'Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36';
const iphone =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1';

describe('the page, devices in a room', () => {
  it('[PAGE-5] are shown with default names as they join and leave', async (t) => {
    const site = await sharedTestSite(t);
    const code = await site.server.api.room();
    const laptop = await joinRoom(site, code);
    await seesDevices(laptop, ['Chrome on Linux You', 'Waiting for another device…']);

    const phone = await joinRoom(site, code, { userAgent: android });
    await laptop.page.getByRole('status').filter({ hasText: 'Chrome on Android joined.' }).waitFor();
    await seesDevices(laptop, ['Chrome on Linux You', 'Chrome on Android']);
    await seesDevices(phone, ['Chrome on Android You', 'Chrome on Linux']);
    await joinRoom(site, code, { userAgent: iphone });
    await seesDevices(phone, ['Chrome on Android You', 'Chrome on Linux', 'Safari on iPhone']);

    await phone.page.close();
    await laptop.page.getByRole('status').filter({ hasText: 'Chrome on Android left.' }).waitFor();
    await seesDevices(laptop, ['Chrome on Linux You', 'Safari on iPhone']);
  });

  it('[slow] [PAGE-5] show a new name of a device, which is saved', async (t) => {
    const site = await sharedTestSite(t);
    const code = await site.server.api.room();
    const laptop = await joinRoom(site, code);
    const phone = await joinRoom(site, code, { userAgent: android });

    await rename(phone, '  <b>Ada’s phone</b>  ');
    await seesDevices(laptop, ['Chrome on Linux You', '<b>Ada’s phone</b>']);
    await phone.page.reload();
    await seesDevices(phone, ['<b>Ada’s phone</b> You', 'Chrome on Linux']);

    await rename(phone, ' ');
    await seesDevices(laptop, ['Chrome on Linux You', 'Chrome on Android']);
  });

  it('[slow] [PAGE-5] are not announced as joined or left when they only change their name', async (t) => {
    const site = await sharedTestSite(t);
    const laptop = await site.openDevice();
    const phone = await joinRoom(site, await startRoom(laptop), { userAgent: android });
    await laptop.page.getByText('Chrome on Android joined.').waitFor();
    await rename(phone, 'Ada’s phone');
    await seesDevices(laptop, ['Chrome on Linux You', 'Ada’s phone']);
    assert.deepEqual(await laptop.page.getByText(/phone joined\.$|left\.$/).allTextContents(), []);
  });

  it('[slow] [PAGE-5] count once for two tabs, and stay while one tab is open', async (t) => {
    const site = await sharedTestSite(t);
    const code = await site.server.api.room();
    const laptop = await joinRoom(site, code);
    const phone = await joinRoom(site, code, { userAgent: android });
    const tab = await phone.context.newPage();
    await tab.goto(`/r/${code}`);
    await tab.locator('textarea').waitFor();
    await tab.close();
    await rename(phone, 'still here');
    await seesDevices(laptop, ['Chrome on Linux You', 'still here']);
  });

  it('[slow] [PAGE-14] are limited; one over the limit is notified, and joins when another leaves', async (t) => {
    const site = await startTestSite(t, { POPROOM_MAX_DEVICES_PER_ROOM: '1' });
    const code = await site.server.api.room();
    const laptop = await joinRoom(site, code);
    const { page } = await site.openDevice({ at: `/r/${code}` });
    await page.getByRole('heading', { name: /^This room has reached its device limit\. Retrying in \d+/ }).waitFor();
    await laptop.page.close();
    await eventually('there is a place', async () => {
      return (await site.server.api.get(`/api/rooms/${code}`)).json.deviceCount === 0;
    });
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.locator('textarea').waitFor();
  });

  it('[PAGE-14] are notified of wrong PINs until the notice is dismissed', async (t) => {
    const site = await sharedTestSite(t);
    const { server } = site;
    const code = await server.api.room({ pin: '1234' });
    const { page } = await site.openDevice({ at: `/r/${code}` });
    await page.getByRole('textbox', { name: '4-digit PIN' }).pressSequentially('1234');
    await page.locator('textarea').waitFor();

    await server.api.get(`/api/rooms/${code}`, { pin: '0000', from: '203.0.113.7' });
    const notice = page.getByText('Someone entered a wrong PIN');
    const once = notice.filter({ hasText: /PIN\.$/ });
    await once.waitFor();
    await server.api.get(`/api/rooms/${code}`, { pin: '0001', from: '203.0.113.7' });
    await notice.filter({ hasText: /PIN 2 times\.$/ }).waitFor();
    await page.getByRole('button', { name: 'Close' }).click();
    await notice.waitFor({ state: 'detached' });
    await server.api.get(`/api/rooms/${code}`, { pin: '0002', from: '203.0.113.8' });
    await once.waitFor();
  });
});

async function rename({ page }: BrowserDevice, name: string): Promise<void> {
  await page.getByRole('button', { name: 'Settings', exact: true }).click();
  await page.getByRole('textbox', { name: 'Device name' }).fill(name);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Escape');
}

async function seesDevices({ page }: BrowserDevice, expected: string[]): Promise<void> {
  const list = page.getByRole('region', { name: /^Devices in this room/ }).getByRole('listitem');
  let seen: string[] = [];
  await eventually(`the devices are ${expected}`, async () => {
    seen = (await list.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' ').trim());
    return JSON.stringify([...seen].sort()) === JSON.stringify([...expected].sort());
  }).catch(() => assert.deepEqual(seen, expected));
}
