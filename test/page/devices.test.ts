/** The devices in a room: their names, joining and leaving, and wrong PIN attempts. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { type BrowserDevice, joinRoom, sharedTestSite, startTestSite } from '../support/page.ts';

const ownNameOf = async ({ page }: BrowserDevice): Promise<string> =>
  (await page.locator('.devices [data-own] .device-name').textContent()) ?? '';

/** Each name with its colour, as the page paints it. */
async function colorsIn({ page }: BrowserDevice): Promise<string[]> {
  const items = await page
    .locator('.devices li[data-device]')
    .evaluateAll((devices) =>
      devices.map((device) => [
        device.querySelector('.device-name')?.textContent ?? '',
        getComputedStyle(device.querySelector('.dot') as Element).backgroundColor,
      ]),
    );
  return items.map(([name, color]) => `${name}: ${color}`).sort();
}

/** Call this before a device joins, because the announcement is shown for a few seconds only. */
const announcementTo = async ({ page }: BrowserDevice): Promise<string> =>
  (await page.getByRole('status').filter({ hasText: 'joined.' }).textContent()) ?? '';

const friendlyName = /^[A-Z][a-z]+ [A-Z][a-z]+$/;
const sameEntries = (one: readonly string[], other: readonly string[]) => one.join() === other.join();
const colorOf = (entry: string) => entry.slice(entry.indexOf(':'));

describe('the page, devices in a room', () => {
  it('[PAGE-5] [PEOPLE-2] are shown with friendly names and different colours as they join and leave', async (t) => {
    const site = await sharedTestSite(t);
    const code = await site.server.api.room();
    const laptop = await joinRoom(site, code, { deviceName: 'Ada' });
    await seesDevices(laptop, ['Ada You', 'Waiting for another device…']);

    const announced = announcementTo(laptop);
    const phone = await joinRoom(site, code);
    const name = await ownNameOf(phone);
    assert.match(name, friendlyName);
    assert.match(await announced, new RegExp(`${name} joined\\.`));
    await seesDevices(laptop, ['Ada You', name]);
    await seesDevices(phone, [`${name} You`, 'Ada']);
    const third = await joinRoom(site, code, { deviceName: 'Grace' });
    const colors = await eventually('all see three colours', async () => {
      const seen = await colorsIn(laptop);
      return seen.length === 3 && seen;
    });
    assert.equal(new Set(colors.map(colorOf)).size, 3, 'all differ');
    for (const device of [phone, third])
      await eventually('the others see the same', async () => sameEntries(await colorsIn(device), colors));
    assert.equal(await laptop.page.locator('.devices .dot').first().getAttribute('data-initial'), 'A');

    await phone.page.reload();
    await eventually('a reload changes nothing', async () => sameEntries(await colorsIn(phone), colors));
    assert.equal(await ownNameOf(phone), name);
    await phone.page.close();
    await laptop.page
      .getByRole('status')
      .filter({ hasText: `${name} left.` })
      .waitFor();
    await seesDevices(laptop, ['Ada You', 'Grace']);
  });

  it('[slow] [PAGE-5] [PEOPLE-2] show a new name of a device, which is saved for all rooms', async (t) => {
    const site = await sharedTestSite(t);
    const code = await site.server.api.room();
    const laptop = await joinRoom(site, code);
    const phone = await joinRoom(site, code);
    const own = await ownNameOf(laptop);

    await rename(phone, '  <b>Ada’s phone</b>  ');
    await seesDevices(laptop, [`${own} You`, '<b>Ada’s phone</b>']);
    await phone.page.goto(`/r/${await site.server.api.room()}`);
    await seesDevices(phone, ['<b>Ada’s phone</b> You', 'Waiting for another device…']);
    await rename(phone, ' ');
    await eventually('it has a friendly name again', async () => friendlyName.test(await ownNameOf(phone)));
  });

  it('[PEOPLE-4] add a number to a name that another device in the room has, and only in this room', async (t) => {
    const site = await sharedTestSite(t);
    const code = await site.server.api.room();
    const laptop = await joinRoom(site, code, { deviceName: 'Ada' });
    const phone = await joinRoom(site, code, { deviceName: 'Ada' });
    await seesDevices(phone, ['Ada 2 You', 'Ada']);
    await phone.page.reload();
    await seesDevices(phone, ['Ada 2 You', 'Ada']);
    await seesDevices(laptop, ['Ada You', 'Ada 2']);
    await rename(phone, 'Grace');
    await seesDevices(laptop, ['Ada You', 'Grace']);
    await rename(phone, 'Ada');
    await seesDevices(laptop, ['Ada You', 'Ada 2']);
    await phone.page.goto(`/r/${await site.server.api.room()}`);
    await seesDevices(phone, ['Ada You', 'Waiting for another device…']);
  });

  it('[slow] [PAGE-5] are not announced as joined or left when they only change their name', async (t) => {
    const site = await sharedTestSite(t);
    const code = await site.server.api.room();
    const laptop = await joinRoom(site, code, { deviceName: 'Grace' });
    const announced = announcementTo(laptop);
    const phone = await joinRoom(site, code);
    assert.match(await announced, new RegExp(`${await ownNameOf(phone)} joined\\.`));
    await rename(phone, 'Ada’s phone');
    await seesDevices(laptop, ['Grace You', 'Ada’s phone']);
    assert.deepEqual(await laptop.page.getByText(/phone joined\.$|left\.$/).allTextContents(), []);
  });

  it('[slow] [PAGE-5] count once for two tabs, and stay while one tab is open', async (t) => {
    const site = await sharedTestSite(t);
    const code = await site.server.api.room();
    const laptop = await joinRoom(site, code);
    const phone = await joinRoom(site, code);
    const tab = await phone.context.newPage();
    await tab.goto(`/r/${code}`);
    await tab.locator('textarea').waitFor();
    await tab.close();
    await rename(phone, 'still here');
    await seesDevices(laptop, [`${await ownNameOf(laptop)} You`, 'still here']);
  });

  it('[slow] [PAGE-14] are limited; one over the limit is notified, and joins when another leaves', async (t) => {
    const site = await startTestSite(t, { POPROOM_MAX_DEVICES_PER_ROOM: '1' });
    const code = await site.server.api.room();
    const laptop = await joinRoom(site, code);
    const { page } = await site.openDevice({ at: `/r/${code}` });
    await page.getByRole('heading', { name: /^This room has reached its device limit\. Retrying in \d+/ }).waitFor();
    await laptop.page.close();
    // It also retries automatically, so there may be no time for a click.
    await eventually('it has joined', async () => {
      const click = page.getByRole('button', { name: 'Try again' }).click({ timeout: 1_000 });
      await click.catch(() => undefined);
      return page.locator('textarea').isVisible();
    });
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
