/** Changes of a room: its name, its expiry time and its PIN, and what the page keeps of a room. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import {
  askToDelete,
  type BrowserDevice,
  chooseEntry,
  hasFocus,
  joinRoom,
  sharedTestSite,
  showsStatus,
  startTestSite,
  type TestSite,
  textOf,
} from '../support/page.ts';
import { holdsPin } from '../support/secrets.ts';

const phoneScreen = { viewport: { width: 375, height: 667 }, hasTouch: true };
/** It is shown for a few seconds only, so call this before the action that causes it. */
const notice = (page: Page, text: string) => page.locator('.notices').getByText(text).waitFor();
const pinField = (page: Page) => page.getByRole('textbox', { name: '4-digit PIN' });

async function openSettings({ page }: BrowserDevice) {
  await page.getByRole('button', { name: 'Room settings' }).click();
  return page.getByRole('dialog', { name: 'Room settings' });
}

async function setPin(device: BrowserDevice, pin: string): Promise<void> {
  const dialog = await openSettings(device);
  await dialog.getByRole('radio', { name: 'New PIN' }).check();
  await pinField(device.page).fill(pin);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'detached' });
}

describe('the page, room settings', () => {
  it('[PAGE-80] [PAGE-81] [PAGE-82] [PAGE-84] [PAGE-85] change a room on all devices, and are listed with it', async (t) => {
    const site = await sharedTestSite(t);
    const code = await site.server.api.room();
    const laptop = await joinRoom(site, code);
    const phone = await joinRoom(site, code, phoneScreen);
    const shared = { site, laptop, phone, code };
    await t.test('[PAGE-80] [PAGE-81] the name and the expiry time', () => changeNameAndExpiry(shared));
    await t.test('[PAGE-80] a change that failed keeps what was entered', () => reportFailure(laptop));
    await t.test('[PAGE-81] [PAGE-82] the PIN, and no device sends the earlier one', () => changePin(shared));
    await t.test(
      '[PAGE-85] recent rooms show the name, the first line and the files, but no text of a room with a PIN',
      () => listRoom(shared),
    );
    await t.test('[PAGE-84] nothing is offered after a deletion of one’s own, which is confirmed', () =>
      deleteRoom(phone),
    );
  });

  it('[slow] [PAGE-83] warn ten minutes before the end, also after sleep, and extend the room', async (t) => {
    const site = await sharedTestSite(t);
    const code = await site.server.api.room({ expiresIn: 3600 });
    // The clock must be installed before the page is loaded.
    const phone = await site.openDevice({ ...phoneScreen, at: '/api/health' });
    const { page } = phone;
    await page.clock.install();
    await page.goto(`/r/${code}`);
    await textOf(phone).waitFor();
    const alert = page.locator('.alerts[role="status"] .alert').filter({ hasText: 'expires in' });
    await page.clock.fastForward(40 * 60_000);
    await page
      .locator('.expiry')
      .getByText(/^(20|19) min left$/)
      .waitFor();
    assert.equal(await alert.count(), 0);
    await page.clock.fastForward(11 * 60_000);
    await alert
      .getByText(/This room expires in (9|10) minutes\./)
      .first()
      .waitFor();
    await alert.getByRole('button', { name: 'Extend' }).click();
    const dialog = page.getByRole('dialog', { name: 'Room settings' });
    await dialog.getByRole('radio', { name: '1 day' }).check();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await alert.waitFor({ state: 'detached' });
  });

  it('[slow] [PAGE-84] keep the text of a room that someone else has deleted, or that has expired', async (t) => {
    const site = await startTestSite(t);
    const device = await site.openDevice({ at: '/api/health', permissions: ['clipboard-read', 'clipboard-write'] });
    const { page } = device;
    for (const title of ['This room was deleted', 'This room has expired']) {
      const code = await site.server.api.room();
      await page.goto(`/r/${code}`);
      await textOf(device).fill('not lost');
      await showsStatus(device, 'Saved');
      if (title.endsWith('deleted')) await site.server.api.delete(`/api/rooms/${code}`);
      else site.server.clock.advance(24 * 3_600_000);
      await page.getByRole('heading', { name: title }).waitFor();
      await page.getByRole('button', { name: 'Copy text' }).click();
      await page.locator('.notices').getByText('Copied.').waitFor();
      assert.equal(await page.evaluate(() => navigator.clipboard.readText()), 'not lost');
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'Save as text file' }).click(),
      ]);
      assert.match(download.suggestedFilename(), new RegExp(`^poproom-${code}-.*\\.txt$`));
    }
  });
});

interface SharedRoom {
  site: TestSite;
  laptop: BrowserDevice;
  phone: BrowserDevice;
  code: string;
}

async function changeNameAndExpiry({ site, laptop, phone, code }: SharedRoom): Promise<void> {
  const name = 'Küche مطبخ';
  const dialog = await openSettings(phone);
  const nameField = dialog.getByRole('textbox', { name: 'Room name' });
  await nameField.fill('x'.repeat(81));
  assert.equal((await nameField.inputValue()).length, 80);
  await nameField.fill(name);
  await dialog.getByRole('radio', { name: '7 days' }).check();
  const announced = [laptop, phone].flatMap(({ page }) => [
    notice(page, name),
    notice(page, 'This room expires in 7 days.'),
  ]);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'detached' });
  await hasFocus(phone.page.getByRole('button', { name: 'Room settings' }));

  await Promise.all(announced);
  for (const { page } of [laptop, phone]) {
    await page.waitForFunction((title) => document.title === title, `${name} · Poproom`);
    await page.getByRole('banner').getByText(name).waitFor();
    await page.locator('.expiry').getByText('7 days left').waitFor();
  }
  const changed = await openSettings(laptop);
  await changed.getByRole('textbox', { name: 'Room name' }).fill('');
  await changed.getByRole('radio', { name: '10 minutes' }).check();
  const removed = notice(phone.page, 'The room name was removed.');
  await laptop.page.keyboard.press('Enter');
  await removed;
  await phone.page.waitForFunction((title) => document.title === title, `${code} · Poproom`);
  const { expiresAt } = (await site.server.api.get(`/api/rooms/${code}`)).json;
  assert.ok(Date.parse(expiresAt) <= site.server.clock.now + 600_000);
}

async function reportFailure(device: BrowserDevice): Promise<void> {
  const dialog = await openSettings(device);
  await dialog.getByRole('radio', { name: 'New PIN' }).check();
  await hasFocus(pinField(device.page));
  await device.page.keyboard.type('12');
  await device.page.keyboard.press('Enter');
  await dialog.getByRole('alert').getByText('Enter a 4-digit PIN.').waitFor();
  await device.page.keyboard.type('04');
  await device.page.route('**/api/rooms/*', (route) => route.abort());
  await device.page.keyboard.press('Enter');
  await dialog.getByRole('alert').getByText('Can’t reach the server.').waitFor();
  assert.equal(await pinField(device.page).inputValue(), '1204');
  await device.page.unroute('**/api/rooms/*');
  await device.page.keyboard.press('Escape');
}

async function changePin({ site, laptop, phone, code }: SharedRoom): Promise<void> {
  await Promise.all([notice(phone.page, 'This room now has a PIN.'), setPin(laptop, '0427')]);
  await phone.page.locator('.invitation-head > svg').waitFor();
  await laptop.page.getByRole('button', { name: 'Invite' }).click();
  await laptop.page.getByRole('button', { name: 'Show PIN' }).click();
  await laptop.page.locator('.room-pin').getByText('0427').waitFor();
  await laptop.page.keyboard.press('Escape');

  await textOf(phone).fill('the text needs no PIN');
  await showsStatus(phone, 'Saved');
  await chooseEntry(phone.page, 'Version history');
  await pinField(phone.page).pressSequentially('0427');
  await textOf(phone).waitFor();
  await phone.page.getByRole('button', { name: 'Invite' }).click();
  await phone.page.getByRole('button', { name: 'Show PIN' }).click();
  await phone.page.getByRole('dialog').getByText('0427', { exact: true }).waitFor();
  await phone.page.keyboard.press('Escape');

  const sent: string[] = [];
  phone.page.on('request', (request) => sent.push(request.headers()['x-room-pin'] ?? ''));
  phone.page.on('websocket', (socket) => socket.on('framesent', ({ payload }) => sent.push(String(payload))));
  await Promise.all([notice(phone.page, 'The PIN was changed.'), setPin(laptop, '8642')]);
  await phone.context.setOffline(true);
  await phone.page.getByText('No connection.').waitFor();
  await phone.context.setOffline(false);
  await pinField(phone.page).pressSequentially('8642');
  await textOf(phone).waitFor();
  assert.ok(sent.some((message) => holdsPin(message, '8642')));
  assert.deepEqual(
    sent.filter((message) => holdsPin(message, '0427')),
    [],
  );
  await laptop.page.reload();
  await textOf(laptop).waitFor();

  const dialog = await openSettings(phone);
  await dialog.getByRole('radio', { name: 'Remove' }).check();
  await Promise.all([
    notice(laptop.page, 'The PIN was removed.'),
    dialog.getByRole('button', { name: 'Save' }).click(),
  ]);
  await laptop.page.locator('.invitation-head > svg').waitFor({ state: 'detached' });
  assert.equal((await site.server.api.get(`/api/rooms/${code}`)).status, 200);
}

async function listRoom({ site: { server }, phone, code }: SharedRoom): Promise<void> {
  const { page } = phone;
  await server.api.patch(`/api/rooms/${code}`, { json: { name: 'Office', expiresIn: 86_400 } });
  await server.api.upload(code, 'a.txt', 'a');
  await page.getByRole('link', { name: 'Download a.txt' }).waitFor();
  await textOf(phone).fill(`\n  ${'word '.repeat(20)}\nsecond line`);
  await showsStatus(phone, 'Saved');
  await page.getByRole('link', { name: 'Poproom home' }).click();
  const row = page.locator('.recent li');
  await row.getByText('Office').waitFor();
  await row.getByText('1 file · 24 hours left').waitFor();
  assert.equal(await row.locator('small').textContent(), 'word '.repeat(12).trim());

  const open = page.getByRole('button', { name: code, exact: false }).first();
  await open.click();
  await textOf(phone).waitFor();
  await setPin(phone, '1204');
  await page.getByRole('link', { name: 'Poproom home' }).click();
  await row.getByText('Office').waitFor();
  assert.equal(await row.locator('small').count(), 0);
  const kept = await page.evaluate(() => JSON.stringify({ ...localStorage }));
  assert.ok(!kept.includes('word word') && !holdsPin(kept, '1204'), kept);
  await open.click();
}

async function deleteRoom(device: BrowserDevice): Promise<void> {
  await textOf(device).fill('to be deleted');
  await askToDelete(device.page);
  await device.page.getByRole('button', { name: 'Delete', exact: true }).click();
  await device.page.getByRole('heading', { name: 'This room was deleted' }).waitFor();
  assert.equal(await device.page.getByRole('button', { name: 'Copy text' }).count(), 0);
}
