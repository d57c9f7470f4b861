/** Files that others add: they are noticed, also in a hidden tab. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { eventually } from '../support/eventually.ts';
import { joinRoom, sharedTestSite, startTestSite } from '../support/page.ts';
import { arrived, dropFiles, pickFiles, rowOf } from './support/files.ts';
import { holdTimers } from './support/page-time.ts';

/** How long a message and a highlight are shown. */
const [messageMs, highlightMs] = [5_000, 4_000];

const message = (page: Page, text: string) => page.getByRole('status').filter({ hasText: text });

describe('the page, a file that arrives', () => {
  it('[PAGE-33] is announced with the device that added it, and highlighted for a moment', async (t) => {
    const site = await sharedTestSite(t);
    const code = await site.server.api.room();
    const laptop = await joinRoom(site, code);
    const phone = await joinRoom(site, code, { viewport: { width: 375, height: 700 }, deviceName: 'Ada' });
    const elapse = await holdTimers(laptop.page, messageMs, highlightMs);
    // One of each kind of upload: in one request, and in parts.
    const files = [
      { name: 'note.txt', content: 'note' },
      { name: 'video.mp4', content: 6 * 1024 * 1024 },
    ];
    for (const [index, file] of files.entries()) {
      await dropFiles(phone.page, 'body', [file]);
      // The second one joins the message of the first.
      await message(laptop.page, `Ada added ${index === 0 ? file.name : '2 files'}`).waitFor();
      await rowOf(laptop.page, file.name).and(laptop.page.locator('[data-new]')).waitFor();
      await rowOf(laptop.page, file.name).getByText('Ada · Just now').waitFor();
      await rowOf(phone.page, file.name).getByText('You · Just now').waitFor();
    }
    await elapse();
    await laptop.page.locator('[data-new]').first().waitFor({ state: 'detached' });
    assert.equal(await message(phone.page, 'added').count(), 0, 'not announced where it was added');
  });

  it('[PAGE-33] is first in the list, and one that Undo restores is in its old place and not announced', async (t) => {
    const site = await startTestSite(t);
    const code = await site.server.api.room();
    const laptop = await joinRoom(site, code);
    for (const name of ['1.txt', '2.txt']) {
      await site.server.api.upload(code, name, name);
      site.server.clock.advance(1000);
    }
    const phone = await joinRoom(site, code);
    await holdTimers(phone.page, messageMs);
    await site.server.api.upload(code, '3.txt', '3.txt');
    await message(phone.page, 'Someone added 3.txt').waitFor();
    await showsFiles(phone.page, ['3.txt', '2.txt', '1.txt']);
    await laptop.page.getByRole('button', { name: 'Remove 2.txt' }).click();
    await showsFiles(phone.page, ['3.txt', '1.txt']);
    await laptop.page.locator('.notice').getByRole('button', { name: 'Undo' }).click();
    await showsFiles(phone.page, ['3.txt', '2.txt', '1.txt']);
    assert.equal(await message(phone.page, 'Someone added 2.txt').count(), 0);
  });

  it('[PAGE-33] shows how long ago it was added', async (t) => {
    const site = await sharedTestSite(t);
    // The clock must be installed before the page is loaded.
    const { page } = await site.openDevice({ at: '/api/health' });
    await page.clock.install();
    await page.goto(`/r/${await site.server.api.room()}`);
    await page.getByRole('button', { name: 'Add files' }).waitFor();
    await pickFiles(page, [{ name: 'a.txt', content: 'a' }]);
    await rowOf(page, 'a.txt').getByText('You · Just now').waitFor();
    await page.clock.fastForward(5 * 60_000);
    await rowOf(page, 'a.txt')
      .getByText(/^You · [56] minutes ago$/)
      .waitFor();
  });

  it('[PAGE-33] is counted in the tab title while the page is hidden', async (t) => {
    const site = await sharedTestSite(t);
    const code = await site.server.api.room();
    const { page } = await joinRoom(site, code);
    await site.server.api.upload(code, 'seen.txt', 'x');
    await arrived(page, 'seen.txt');
    assert.equal(await page.title(), `${code} · Poproom`);
    await setVisibility(page, 'hidden');
    for (const name of ['1.txt', '2.txt']) await site.server.api.upload(code, name, name);
    await eventually('both are counted', async () => (await page.title()) === `(2) ${code} · Poproom`);
    await setVisibility(page, 'visible');
    await eventually('the count is gone', async () => (await page.title()) === `${code} · Poproom`);
  });
});

/** The rows in their order. */
async function showsFiles(page: Page, names: readonly string[]): Promise<void> {
  const shown = () => page.locator('.file-info > a').allTextContents();
  await eventually('the files are shown', async () => (await shown()).join() === names.join()).catch(async () =>
    assert.deepEqual(await shown(), names),
  );
}

/** The browser of a test shows all its pages. */
async function setVisibility(page: Page, state: 'hidden' | 'visible'): Promise<void> {
  await page.evaluate((state) => {
    Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => state });
    document.dispatchEvent(new Event('visibilitychange'));
  }, state);
}
