/** Files that are deleted after their first download. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { chooseEntry, joinRoom, sharedTestSite, type TestSite } from '../support/page.ts';
import { arrived, dropFiles, pickFiles, rowOf } from './support/files.ts';

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const hint = (page: Page) => page.getByText('The next files you add will be deleted after their first download.');
const message = (page: Page, text: string) => page.locator('.notice').filter({ hasText: text });
const dialog = (page: Page, name: string) => page.getByRole('dialog', { name: `Receive ${name}`, exact: true });

describe('the page, a one-time file', () => {
  it('[PAGE-72] [PAGE-73] is added by an option for the next files, received once, and then gone for all', async (t) => {
    const site = await sharedTestSite(t);
    const code = await site.server.api.room();
    const laptop = await joinRoom(site, code);
    const phone = await joinRoom(site, code, { viewport: { width: 320, height: 640 } });
    await saveFromMemory(phone.page);
    await chooseEntry(laptop.page, 'Delete after first download', 'Add files');
    await hint(laptop.page).waitFor();
    await pickFiles(laptop.page, [{ name: 'key.png', type: 'image/png', content: 'secret' }]);
    await hint(laptop.page).waitFor({ state: 'detached' });
    await button(laptop.page, 'Add files').click();
    await laptop.page.getByRole('menuitemcheckbox', { name: 'Delete after first download', checked: false }).waitFor();
    await laptop.page.keyboard.press('Escape');
    await dropFiles(laptop.page, 'body', [{ name: 'plain.txt', content: 'plain' }]);
    await arrived(phone.page, 'plain.txt');

    for (const { page } of [laptop, phone]) {
      const row = rowOf(page, 'key.png');
      await row.getByText('Deleted after first download').waitFor();
      assert.equal(await row.getByRole('link').count(), 0, 'nothing opens or downloads it');
      assert.equal(await row.locator('img').count(), 0, 'no preview');
      assert.equal(await row.getByRole('button', { name: 'Copy link' }).count(), 0);
    }
    assert.ok(await phone.page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    await button(laptop.page, 'Select').click();
    await laptop.page.getByRole('checkbox', { name: 'Select all' }).check();
    await laptop.page.getByText('Files that can be downloaded once are not included').waitFor();
    const [download] = await Promise.all([
      laptop.page.waitForEvent('download'),
      button(laptop.page, 'Download').click(),
    ]);
    assert.equal(download.suggestedFilename(), 'plain.txt');

    await button(phone.page, 'Receive key.png').click();
    await dialog(phone.page, 'key.png').getByText('deleted from the room after you receive it').waitFor();
    // It is shown for a few seconds only.
    const announced = message(laptop.page, 'key.png was received and deleted from the room.').waitFor();
    const [received] = await Promise.all([phone.page.waitForEvent('download'), button(phone.page, 'Receive').click()]);
    assert.equal(received.suggestedFilename(), 'key.png');
    assert.equal(await readFile(await received.path(), 'utf8'), 'secret');
    await dialog(phone.page, 'key.png').getByText('The file was received and deleted').waitFor();
    const [again] = await Promise.all([
      phone.page.waitForEvent('download'),
      phone.page.getByRole('link', { name: 'Save again' }).click(),
    ]);
    assert.equal(await readFile(await again.path(), 'utf8'), 'secret');
    await announced;
    for (const { page } of [laptop, phone]) await rowOf(page, 'key.png').waitFor({ state: 'detached' });
    assert.equal(await message(phone.page, 'was received').count(), 0, 'the dialog says so');
    const { json } = await site.server.api.get(`/api/rooms/${code}/files`);
    assert.deepEqual(
      json.files.map(({ fileName }: { fileName: string }) => fileName),
      ['plain.txt'],
    );
  });

  it('[slow] [PAGE-73] stays in the room if it cannot be saved, or while someone else is receiving it', async (t) => {
    const site = await sharedTestSite(t);
    const { code, fileId } = await roomWithOneTimeFile(site);
    const { page } = await joinRoom(site, code);
    const { claim } = (await site.server.api.post(`/api/rooms/${code}/files/${fileId}/claim`)).json;
    await saveToDisk(page, 'refused');
    await button(page, 'Receive key.txt').click();
    await button(page, 'Receive').click();
    await page
      .getByText('Someone else is receiving this file. If they don’t finish, you can receive it in 30')
      .waitFor();
    assert.equal(await savedOnDisk(page), undefined, 'the empty file of the picker is removed');

    await site.server.api.delete(`/api/rooms/${code}/claims/${claim}`);
    await button(page, 'Try again').click();
    await page.getByText('Couldn’t save the file. The file is still in the room.').waitFor();

    await page.route('**/files/*/key.txt?claim=*', () => undefined);
    await saveToDisk(page, 'accepted');
    await button(page, 'Try again').click();
    await page.getByText('0% of').waitFor();
    await button(page, 'Cancel').click();
    await message(page, 'The file is still in the room.').waitFor();
    await page.unroute('**/files/*/key.txt?claim=*');

    await button(page, 'Receive key.txt').click();
    await button(page, 'Receive').click();
    await page.getByText('The file was received and deleted').waitFor();
    assert.equal(await savedOnDisk(page), 'secret');
    assert.equal(await page.getByRole('link', { name: 'Save again' }).count(), 0);
    await button(page, 'Close').last().click();

    await addOneTimeFile(site, code);
    const error = { code: 'CLAIM_NOT_FOUND', message: 'There is no such claim.' };
    await page.route('**/done', (route) => route.fulfill({ status: 404, json: { success: false, error } }));
    await button(page, 'Receive key.txt').click();
    await button(page, 'Receive').click();
    await page.getByText('You have the file, but the server couldn’t be notified.').waitFor();
  });

  it('[PAGE-74] is explained by its link, which does not use it up', async (t) => {
    const site = await sharedTestSite(t);
    const { code, fileUrl } = await roomWithOneTimeFile(site);
    const { page } = await site.openDevice({ at: new URL(fileUrl).pathname });
    await page.getByRole('heading', { name: 'This file can be downloaded once' }).waitFor();
    await page.getByText('Open its room to receive it.').waitFor();
    const { json } = await site.server.api.get(`/api/rooms/${code}/files`);
    assert.equal(json.files.length, 1);
    await page.goto(`/files/${'0'.repeat(32)}/key.txt`);
    await page.getByRole('heading', { name: 'This file is no longer available' }).waitFor();
  });
});

const addOneTimeFile = ({ server: { api } }: TestSite, code: string) =>
  api.post(`/api/rooms/${code}/upload?once=true`, {
    body: 'secret',
    headers: { 'content-type': 'text/plain', 'x-file-name': 'key.txt' },
  });

async function roomWithOneTimeFile(site: TestSite) {
  const { api } = site.server;
  const code = await api.room();
  await addOneTimeFile(site, code);
  const [file] = (await api.get(`/api/rooms/${code}/files`)).json.files;
  return { code, fileId: file.fileId as string, fileUrl: file.fileUrl as string };
}

/** As in browsers that do not let pages write to the disk. */
const saveFromMemory = (page: Page) => page.evaluate(() => Reflect.deleteProperty(window, 'showSaveFilePicker'));

/** A test cannot answer the dialog of the system. The page writes to its private file system instead. */
const saveToDisk = (page: Page, writing: 'accepted' | 'refused') =>
  page.evaluate((writing) => {
    const showSaveFilePicker = async () => {
      const folder = await navigator.storage.getDirectory();
      const handle = await folder.getFileHandle('saved', { create: true });
      if (writing === 'refused')
        handle.createWritable = () => Promise.reject(new DOMException('', 'QuotaExceededError'));
      return handle;
    };
    Object.assign(window, { showSaveFilePicker });
  }, writing);

const savedOnDisk = (page: Page) =>
  page.evaluate(async () => {
    const folder = await navigator.storage.getDirectory();
    const handle = await folder.getFileHandle('saved').catch(() => undefined);
    return (await handle?.getFile())?.text();
  });
