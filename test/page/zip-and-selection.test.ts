/** Several files at once: downloaded as an archive, selected, removed. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import type { Download, Page } from 'playwright-core';
import { hasFocus, joinRoom, sharedTestSite, type TestSite } from '../support/page.ts';
import { holdsPin } from '../support/secrets.ts';
import { unzip } from '../support/unzip.ts';
import { arrived, rowOf } from './support/files.ts';

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const box = (page: Page, name: string) => page.getByRole('checkbox', { name, exact: true });
const message = (page: Page, text: string) => page.locator('.notice').filter({ hasText: text });
const count = (page: Page, text: string) => page.getByRole('group').getByText(text, { exact: true });
const names = ['a.txt', 'b.txt', 'c.txt'] as const;

describe('the page, several files', () => {
  it('[PAGE-70] [PAGE-71] are downloaded as one archive: all of them, or those that are selected', async (t) => {
    const site = await sharedTestSite(t);
    const pin = '1204';
    const code = await roomWithFiles(site, { pin });
    const { page } = await site.openDevice({ at: `/r/${code}` });
    await page.getByLabel('4-digit PIN').pressSequentially(pin);
    await arrived(page, 'a.txt');
    const all = await downloaded(page, () => button(page, 'Download all').click());
    assert.equal(all.suggestedFilename(), `poproom-${code}.zip`);
    assert.ok(!holdsPin(all.url(), pin), all.url());
    assert.deepEqual(await filesIn(all), ['a.txt: a.txt', 'b.txt: b.txt', 'c.txt: c.txt']);

    await button(page, 'Select').click();
    await count(page, '0 selected').waitFor();
    assert.ok(await button(page, 'Download').isDisabled());
    await box(page, 'a.txt').check();
    await box(page, 'c.txt').check();
    await count(page, '2 selected').waitFor();
    assert.equal(await box(page, 'Select all').evaluate((input) => (input as HTMLInputElement).indeterminate), true);
    const two = await downloaded(page, () => button(page, 'Download').click());
    assert.deepEqual(await filesIn(two), ['a.txt: a.txt', 'c.txt: c.txt']);
    await arrived(page, 'a.txt');

    await button(page, 'Select').click();
    await box(page, 'b.txt').check();
    const one = await downloaded(page, () => button(page, 'Download').click());
    assert.equal(one.suggestedFilename(), 'b.txt');
    assert.equal(await readFile(await one.path(), 'utf8'), 'b.txt');

    await site.server.api.delete(`/api/rooms/${code}/files/${(await idsIn(site, code, pin))[0]}`, { pin });
    await page.route('**/tickets', (route) => route.abort());
    await button(page, 'Download all').click();
    await message(page, 'Can’t reach the server').waitFor();
  });

  it('[slow] [PAGE-71] [PAGE-21] are selected and removed by keyboard, and Undo restores them', async (t) => {
    const site = await sharedTestSite(t);
    const code = await roomWithFiles(site);
    const { page } = await joinRoom(site, code);
    await button(page, 'Select').press('Enter');
    await hasFocus(box(page, 'Select all'));
    await page.keyboard.press('Escape');
    await hasFocus(button(page, 'Select'));
    await page.keyboard.press('Enter');
    await hasFocus(box(page, 'Select all'));
    await page.keyboard.press('Space');
    await count(page, '3 selected').waitFor();
    await box(page, 'b.txt').press('Space');
    await count(page, '2 selected').waitFor();
    await button(page, 'Remove').press('Enter');
    await message(page, 'Removed 2 files').waitFor();
    for (const name of ['a.txt', 'c.txt']) await rowOf(page, name).waitFor({ state: 'detached' });
    await arrived(page, 'b.txt');
    await button(page, 'Select').waitFor({ state: 'detached' });
    await message(page, 'Removed 2 files').getByRole('button', { name: 'Undo' }).press('Enter');
    for (const name of names) await arrived(page, name);
  });

  it('[slow] [PAGE-71] are selected by a long press on a phone, where Remove is not beside Download', async (t) => {
    const site = await sharedTestSite(t);
    const code = await roomWithFiles(site);
    const { page } = await joinRoom(site, code, {
      viewport: { width: 320, height: 640 },
      hasTouch: true,
      isMobile: true,
    });
    await button(page, 'Select').waitFor();
    await rowOf(page, 'b.txt').scrollIntoViewIfNeeded();
    const row = await rowOf(page, 'b.txt').boundingBox();
    assert.ok(row);
    const session = await page.context().newCDPSession(page);
    const touchPoints = [{ x: row.x + 20, y: row.y + row.height / 2 }];
    await session.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints });
    await count(page, '1 selected').waitFor();
    await session.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
    assert.ok(await box(page, 'b.txt').isChecked());
    const [download, remove] = [
      await button(page, 'Download').boundingBox(),
      await button(page, 'Remove').boundingBox(),
    ];
    assert.ok(download && remove && remove.x - (download.x + download.width) > 16);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  });
});

async function roomWithFiles({ server: { api } }: TestSite, options: { pin?: string } = {}): Promise<string> {
  const code = await api.room(options);
  for (const name of names) assert.equal((await api.upload(code, name, name, options)).status, 201);
  return code;
}

async function idsIn({ server: { api } }: TestSite, code: string, pin: string): Promise<string[]> {
  const { json } = await api.get(`/api/rooms/${code}/files`, { pin });
  return json.files.map(({ fileId }: { fileId: string }) => fileId);
}

async function downloaded(page: Page, act: () => Promise<void>): Promise<Download> {
  const [download] = await Promise.all([page.waitForEvent('download'), act()]);
  return download;
}

async function filesIn(download: Download): Promise<string[]> {
  const files = unzip(await readFile(await download.path()));
  return files.map(({ path, bytes }) => `${path}: ${bytes}`);
}
