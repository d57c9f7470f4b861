/** The API documentation in a real browser. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Locator } from 'playwright-core';
import { sharedTestSite, startTestSite } from '../support/page.ts';

describe('the API documentation in a browser', () => {
  it('[API-11] copies the code of a block', async (t) => {
    const site = await sharedTestSite(t);
    const { page } = await site.openDevice({ at: '/docs', permissions: ['clipboard-read', 'clipboard-write'] });
    await copiesCode(page.locator('#createRoom figure').first());
    assert.equal(
      await page.evaluate(() => navigator.clipboard.readText()),
      `curl ${site.server.url}/api/rooms \\
  -H 'Content-Type: application/json' \\
  -d '{"pin": "0427", "expiresIn": 3600, "name": "Kitchen table"}'`,
    );
  });

  it('[API-11] shows the URL of the server in its examples, and an example without JavaScript', async (t) => {
    const site = await startTestSite(t, {}, { host: 'poproom.test' });
    const { page } = await site.openDevice({ at: '/docs' });
    const text = await page.locator('main').innerText();
    const own = new URL(page.url()).origin;
    assert.match(own, /^http:\/\/poproom\.test:\d+$/);
    assert.ok(text.includes(`curl -X POST ${own}/api/rooms`));
    assert.ok(text.includes(`createClient({ url: '${own}' })`));
    assert.ok(text.includes(`The examples use the server at ${own} and a room`));
    assert.doesNotMatch(text, /localhost:8080/);
    const { page: plain } = await site.openDevice({ at: '/docs', javaScriptEnabled: false });
    const example = await plain.locator('main').innerText();
    assert.ok(example.includes('curl -X POST http://localhost:8080/api/rooms'));
    assert.ok(example.includes('The examples use the server at http://localhost:8080'));
  });

  it('[API-11] keeps the public URL that the server has filled in', async (t) => {
    const site = await startTestSite(t, { POPROOM_PUBLIC_URL: 'https://pop.example.org/path' });
    const { page } = await site.openDevice({ at: '/docs' });
    await page.getByRole('button', { name: 'Copy' }).first().waitFor();
    assert.ok((await page.locator('main').innerText()).includes('curl -X POST https://pop.example.org/path/api/rooms'));
  });

  it('[API-11] copies without the clipboard API, as on a server without HTTPS', async (t) => {
    const site = await startTestSite(t, {}, { host: 'poproom.test' });
    const { page } = await site.openDevice({ at: '/docs', permissions: ['clipboard-read', 'clipboard-write'] });
    assert.equal(await page.evaluate(() => isSecureContext), false);
    await copiesCode(page.locator('#health figure').first());
  });

  it('[API-11] allows no script to create markup or code from text', async (t) => {
    const site = await sharedTestSite(t);
    const device = await site.openDevice({ at: '/docs' });
    // In a page of its own, because the refusals appear in the console, where other tests allow none.
    const page = await device.page.context().newPage();
    await page.goto(`${site.server.url}/docs`);
    const attempts = [
      "document.createElement('div').innerHTML = '<b>markup</b>'",
      "document.createElement('script').text = 'alert(1)'",
      "trustedTypes.createPolicy('docs', { createHTML: (text) => text })",
    ];
    for (const attempt of attempts) {
      const outcome = await page.evaluate(`try { ${attempt}; 'allowed' } catch (error) { error.name }`);
      assert.equal(outcome, 'TypeError', attempt);
    }
  });

  it('[API-11] links to the start page, and its table of contents closes after a selection', async (t) => {
    const site = await sharedTestSite(t);
    const { page } = await site.openDevice({ at: '/docs', viewport: { width: 375, height: 700 } });
    await page.getByText('Contents', { exact: true }).click();
    const link = page.getByRole('navigation').getByRole('link', { name: 'Close codes' });
    await link.click();
    await link.waitFor({ state: 'hidden' });
    await page.waitForURL(/\/docs#close-codes$/);
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

/** The button shows for two seconds only that it has copied. */
async function copiesCode(block: Locator): Promise<void> {
  await Promise.all([
    block.getByRole('button', { name: 'Copied' }).waitFor(),
    block.getByRole('button', { name: 'Copy' }).click(),
  ]);
}
