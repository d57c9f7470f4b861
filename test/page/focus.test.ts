/** Where the focus is after the page has changed. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { eventually } from '../support/eventually.ts';
import { hasFocus, joinRoom, sharedTestSite, showsText, startRoom, textOf } from '../support/page.ts';
import { arrived, pickFiles } from './support/files.ts';

const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

describe('the page, focus', () => {
  it('[PAGE-50] is in the text after starting and joining a room, so that typing needs no click', async (t) => {
    const site = await sharedTestSite(t);
    const laptop = await site.openDevice();
    await laptop.page.getByRole('button', { name: 'Start a room' }).focus();
    await laptop.page.keyboard.press('Enter');
    await hasFocus(textOf(laptop));
    await laptop.page.keyboard.type('first');
    await showsText(laptop, 'first');

    const other = await site.openDevice();
    await other.page.getByRole('textbox', { name: 'Code or link' }).fill(laptop.page.url());
    await other.page.keyboard.press('Enter');
    await showsText(other, 'first');
    await laptop.page.keyboard.type(', second');
    await showsText(other, 'first, second');
    await other.page.keyboard.type(', third');
    await showsText(laptop, 'first, second, third');
  });

  it('[slow] [PAGE-50] [PAGE-21] moves on when files and uploads are removed by keyboard', async (t) => {
    const site = await sharedTestSite(t);
    const { page, context } = await site.openDevice();
    await startRoom({ page, context });
    const names = ['a.txt', 'b.txt', 'c.txt'];
    for (const name of names) {
      await pickFiles(page, [{ name, content: 'x' }]);
      await arrived(page, name);
    }
    await page.getByRole('button', { name: 'Remove b.txt' }).focus();
    await page.keyboard.press('Enter');
    await focused(page, 'Undo');
    await page.keyboard.press('Tab');
    await focused(page, 'Close');
    await page.keyboard.press('Enter');
    await focused(page, 'Remove a.txt');
    for (const name of ['a.txt', 'c.txt']) {
      await page.getByRole('button', { name: `Remove ${name}` }).focus();
      await page.keyboard.press('Enter');
      await focused(page, 'Undo');
    }
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await focused(page, 'Files');

    await page.getByRole('link', { name: 'Poproom home' }).click();
    await page.getByRole('button', { name: 'Remove room' }).focus();
    await page.keyboard.press('Enter');
    await focused(page, 'One room, all your devices.');
  });

  it('[slow] [PAGE-50] is on the heading on a touch screen, which keeps the keyboard closed', async (t) => {
    const site = await sharedTestSite(t);
    const device = await site.openDevice(phone);
    const code = await startRoom(device);
    await focused(device.page, `Room ${code}`);
    const second = await joinRoom(site, code, phone);
    await focused(second.page, `Room ${code}`);
  });

  it('[slow] [PAGE-59] is on the heading of a dialog, without a ring on its close button', async (t) => {
    const site = await sharedTestSite(t);
    const { page } = await site.openDevice();
    await page.getByRole('button', { name: 'Settings', exact: true }).click();
    await focused(page, 'Settings');
    assert.equal(await page.locator('dialog :focus-visible:not(h2)').count(), 0);
  });
});

/** Waits until the element with this name has the focus. */
async function focused(page: Page, name: string): Promise<void> {
  const read = () =>
    page.evaluate(() => document.activeElement?.ariaLabel ?? document.activeElement?.textContent?.trim().slice(0, 60));
  await eventually(`the focus is on ${name}`, async () => (await read()) === name).catch(async () =>
    assert.equal(await read(), name),
  );
}
