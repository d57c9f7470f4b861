/** Parts of the page that are loaded when they are needed. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { sharedTestSite, textOf } from '../support/page.ts';
import { pickFiles, rowOf } from './support/files.ts';

/** Without what the browser prefetches or has cached. */
async function openedRoom(t: Parameters<typeof sharedTestSite>[0]) {
  const site = await sharedTestSite(t);
  const device = await site.openDevice({ serviceWorkers: 'block' });
  await device.context.addInitScript(() =>
    Object.defineProperty(navigator, 'connection', { value: { saveData: true } }),
  );
  const { api } = site.server;
  const code = await api.room();
  await device.page.goto(`/r/${code}`);
  await textOf(device).waitFor();
  return { ...device, api, code };
}

const loadFailed = (page: Page) => page.getByText('Couldn’t load part of the page').first();

describe('a part of the page that is loaded on demand', () => {
  it('[slow] [PAGE-23] says if it cannot be loaded, and works when it can', async (t) => {
    const { page, context } = await openedRoom(t);
    const settings = page.getByRole('button', { name: 'Room settings' });
    await context.route('**/assets/dialogs.*', (route) => route.fulfill({ status: 404 }));
    await settings.click();
    await loadFailed(page).waitFor();
    await context.unroute('**/assets/dialogs.*');
    await settings.click();
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
  });

  it('[PAGE-23] that receives a one-time file leaves the file in the room if it cannot be loaded', async (t) => {
    const { page, context, code, api } = await openedRoom(t);
    await page.evaluate(() => Reflect.deleteProperty(window, 'showSaveFilePicker'));
    await api.call('POST', `/api/rooms/${code}/upload?once=true`, {
      body: 'secret',
      headers: { 'content-type': 'text/plain', 'x-file-name': 'key.txt' },
    });
    await context.route('**/assets/transfer.*', (route) => route.fulfill({ status: 404 }));
    await page.getByRole('button', { name: 'Receive key.txt', exact: true }).click();
    await page.getByRole('button', { name: 'Receive', exact: true }).click();
    await loadFailed(page).waitFor();
    assert.equal((await api.get(`/api/rooms/${code}/files`)).json.files.length, 1);
  });

  it('[PAGE-23] is the list of files, with the first file', async (t) => {
    const { page } = await openedRoom(t);
    const loaded = () =>
      page.evaluate(() => performance.getEntriesByType('resource').some(({ name }) => name.includes('/assets/files.')));
    assert.equal(await loaded(), false);
    await pickFiles(page, [{ name: 'a.txt', content: 'a' }]);
    await rowOf(page, 'a.txt').getByRole('link', { name: 'a.txt', exact: true }).waitFor();
    assert.equal(await loaded(), true);
  });
});
