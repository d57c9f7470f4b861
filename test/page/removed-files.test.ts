/** Files that are removed, and brought back in time. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { hasFocus, joinRoom, sharedTestSite, startTestSite } from '../support/page.ts';
import { arrived, pickFiles, rowOf } from './support/files.ts';

const phoneScreen = { viewport: { width: 375, height: 700 }, hasTouch: true, isMobile: true };
const message = (page: Page, text: string) => page.getByRole('status').filter({ hasText: text });
/** In the message: the text has an Undo, too. */
const undo = (page: Page) => page.locator('.notice').getByRole('button', { name: 'Undo' });
const gone = (page: Page, name: string) => rowOf(page, name).waitFor({ state: 'detached' });

describe('the page, a removed file', () => {
  it('[PAGE-29] is hidden on all devices, and Undo restores it on all devices', async (t) => {
    const site = await sharedTestSite(t);
    const code = await site.server.api.room();
    const laptop = await joinRoom(site, code);
    const phone = await joinRoom(site, code);
    await pickFiles(laptop.page, [{ name: 'photo.jpg', content: 'photo' }]);
    await arrived(phone.page, 'photo.jpg');

    await laptop.page.getByRole('button', { name: 'Remove photo.jpg' }).click();
    await message(laptop.page, 'Removed photo.jpg').waitFor();
    for (const { page } of [laptop, phone]) await gone(page, 'photo.jpg');
    await undo(laptop.page).click();
    for (const { page } of [laptop, phone]) await arrived(page, 'photo.jpg');
    await message(laptop.page, 'Removed photo.jpg').waitFor({ state: 'detached' });
    const link = await laptop.page.getByRole('link', { name: 'photo.jpg', exact: true }).getAttribute('href');
    assert.equal(await (await fetch(link ?? '')).text(), 'photo');
  });

  it('[slow] [PAGE-12] [PAGE-29] is removed on a phone from a menu, not by a button beside Download', async (t) => {
    const site = await sharedTestSite(t);
    const code = await site.server.api.room();
    const laptop = await joinRoom(site, code);
    await pickFiles(laptop.page, [{ name: 'photo.jpg', content: 'photo' }]);
    const { page } = await joinRoom(site, code, phoneScreen);
    await arrived(page, 'photo.jpg');
    const remove = page.getByRole('button', { name: 'Remove photo.jpg' });
    assert.equal(await remove.isVisible(), false);

    await page.getByRole('button', { name: 'More actions for photo.jpg' }).tap();
    await remove.tap();
    await gone(page, 'photo.jpg');
    await undo(page).tap();
    await arrived(page, 'photo.jpg');
    assert.equal(await remove.isVisible(), false, 'the menu is closed');
  });

  it('[slow] [PAGE-29] [PAGE-21] is restored by keyboard: the focus moves to Undo', async (t) => {
    const site = await sharedTestSite(t);
    const { page } = await joinRoom(site, await site.server.api.room());
    await pickFiles(page, [{ name: 'photo.jpg', content: 'photo' }]);
    await page.getByRole('button', { name: 'Remove photo.jpg' }).press('Enter');
    await message(page, 'Removed photo.jpg').waitFor();
    await hasFocus(undo(page));
    await page.keyboard.press('Enter');
    await arrived(page, 'photo.jpg');
  });

  it('[slow] [PAGE-29] can be restored for almost a minute, alone or together with others', async (t) => {
    const site = await sharedTestSite(t);
    // The clock must be installed before the page is loaded.
    const { page } = await site.openDevice({ at: '/api/health' });
    await page.clock.install();
    await page.goto(`/r/${await site.server.api.room()}`);
    await page.getByRole('button', { name: 'Add files' }).waitFor();
    const names = ['a.txt', 'b.txt', 'c.txt'];
    await pickFiles(
      page,
      names.map((name) => ({ name, content: name })),
    );
    await page.getByRole('button', { name: 'Remove a.txt' }).click();
    await message(page, 'Removed a.txt').waitFor();
    await page.clock.runFor(30_000);
    await page.getByRole('button', { name: 'Remove b.txt' }).click();
    await message(page, 'Removed 2 files').waitFor();
    // The clock of the page also runs, so some seconds are left.
    await page.clock.runFor(20_000);
    await message(page, 'Removed 2 files').waitFor();
    await page.clock.runFor(7_000);
    await message(page, 'Removed b.txt').waitFor();
    await undo(page).click();
    await arrived(page, 'b.txt');
    await gone(page, 'a.txt');
  });

  it('[slow] [PAGE-29] whose space was needed stays removed, and the page says so', async (t) => {
    const site = await startTestSite(t, { POPROOM_ROOM_MAX_FILES: '1' });
    const code = await site.server.api.room();
    const { page } = await joinRoom(site, code);
    await pickFiles(page, [{ name: 'photo.jpg', content: 'photo' }]);
    await page.getByRole('button', { name: 'Remove photo.jpg' }).click();
    await undo(page).waitFor();
    assert.equal((await site.server.api.upload(code, 'other.txt', 'other')).status, 201);
    await undo(page).click();
    await message(page, 'This file has been deleted.').waitFor();
    await gone(page, 'photo.jpg');
  });
});
