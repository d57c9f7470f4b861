/** The home page: its order, joining without a button, and messages that cover nothing. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { eventually } from '../support/eventually.ts';
import { codeOf, joinRoom, sharedTestSite, textOf } from '../support/page.ts';

describe('the home page', () => {
  it('[PAGE-114] [PAGE-2] has Start before its options, and joins by a typed code or a link pasted anywhere', async (t) => {
    const site = await sharedTestSite(t);
    const code = await site.server.api.room();
    const device = await site.openDevice();
    const { page } = device;
    const top = async (element: Locator) => (await element.boundingBox())?.y ?? 0;
    const start = page.getByRole('button', { name: 'Start a room' });
    assert.ok((await top(start)) < (await top(page.locator('summary'))));
    await page.getByRole('textbox', { name: 'Code or link' }).pressSequentially(code.toLowerCase());
    await textOf(device).waitFor();
    assert.equal(codeOf(page), code);

    await page.getByRole('link', { name: 'Poproom home' }).click();
    const recent = page.getByRole('heading', { name: 'Recent rooms' });
    await recent.waitFor();
    assert.ok((await top(recent)) < (await top(start)), 'for a user who returns');
    await page.evaluate((text) => {
      const clipboardData = new DataTransfer();
      clipboardData.setData('text/plain', text);
      document.body.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
    }, `see ${site.server.url}/r/${code}`);
    await textOf(device).waitFor();
    assert.equal(codeOf(page), code);
  });
});

describe('the page, messages', () => {
  it('[slow] [PAGE-115] are at most two, and cover nothing that one can press', async (t) => {
    const site = await sharedTestSite(t);
    for (const viewport of [
      { width: 390, height: 844 },
      { width: 1280, height: 800 },
    ]) {
      const code = await site.server.api.room();
      const device = await joinRoom(site, code, { viewport });
      const { page } = device;
      await textOf(device).fill('a text');
      for (const name of ['one.txt', 'two.txt']) await site.server.api.upload(code, name, 'x');
      await page.locator('.notice').first().waitFor();
      await joinRoom(site, code);
      await page.getByRole('button', { name: 'Copy all' }).click();
      await page.locator('.notice').getByText('Copied.').waitFor();
      assert.ok((await page.locator('.notice').count()) <= 2);
      await eventually('no button is covered', async () => (await covered(page)).length === 0).catch(async () =>
        assert.deepEqual(await covered(page), []),
      );
    }
  });
});

/** The buttons and links whose centre is below a message. */
const covered = (page: Page): Promise<string[]> =>
  page.locator('button:visible, a:visible').evaluateAll((all) =>
    all
      .filter((control) => !control.closest('.notices'))
      .filter((control) => {
        const { x, y, width, height } = control.getBoundingClientRect();
        const notices = [...document.querySelectorAll('.notice')].map((notice) => notice.getBoundingClientRect());
        return notices.some((box) => box.left < x + width && box.right > x && box.top < y + height && box.bottom > y);
      })
      .map((control) => control.getAttribute('aria-label') ?? control.textContent ?? ''),
  );
