/** The API documentation in a real browser. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sharedTestSite, startTestSite } from '../support/page.ts';

describe('the API documentation in a browser', () => {
  it('[API-11] copies the code of a block', async (t) => {
    const site = await sharedTestSite(t);
    const { page } = await site.openDevice({ at: '/docs', permissions: ['clipboard-read', 'clipboard-write'] });
    const block = page.locator('#createRoom figure').first();
    await block.getByRole('button', { name: 'Copy' }).click();
    await block.getByRole('button', { name: 'Copied' }).waitFor();
    assert.equal(
      await page.evaluate(() => navigator.clipboard.readText()),
      `curl ${site.server.url}/api/rooms \\
  -H 'Content-Type: application/json' \\
  -d '{"pin": "0427", "expiresIn": 3600, "name": "Kitchen table"}'`,
    );
  });

  it('[API-11] copies without the clipboard API, as on a server without HTTPS', async (t) => {
    const site = await startTestSite(t, {}, { host: 'poproom.test' });
    const { page } = await site.openDevice({ at: '/docs', permissions: ['clipboard-read', 'clipboard-write'] });
    assert.equal(await page.evaluate(() => isSecureContext), false);
    const block = page.locator('#health figure').first();
    await block.getByRole('button', { name: 'Copy' }).click();
    await block.getByRole('button', { name: 'Copied' }).waitFor();
  });

  it('[API-11] links to the start page, and its table of contents closes after a selection', async (t) => {
    const site = await sharedTestSite(t);
    const { page } = await site.openDevice({ at: '/docs', viewport: { width: 375, height: 700 } });
    await page.getByText('Contents', { exact: true }).click();
    const link = page.getByRole('navigation').getByRole('link', { name: 'Close codes' });
    await link.click();
    await link.waitFor({ state: 'hidden' });
    assert.ok(page.url().endsWith('/docs#close-codes'));
    await page.getByRole('link', { name: 'Poproom', exact: true }).click();
    await page.getByRole('button', { name: 'Start a room' }).waitFor();
  });

  it('[API-11] works without JavaScript, on small and large screens, in light and dark', async (t) => {
    const site = await sharedTestSite(t);
    const { page } = await site.openDevice({ at: '/docs', javaScriptEnabled: false });
    assert.equal(await page.getByRole('button').count(), 0);
    const paper: string[] = [];
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      for (const width of [320, 375, 900, 1440]) {
        await page.setViewportSize({ width, height: 700 });
        const [content, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
        assert.equal(content, window, `${width} pixels`);
        const link = page.getByRole('navigation').getByRole('link', { name: 'Create a room' });
        assert.equal(await link.isVisible(), width > 1000, `${width} pixels`);
      }
      paper.push(await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor));
    }
    assert.notEqual(paper[0], paper[1]);
  });
});
