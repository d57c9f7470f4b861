/** What can be done with the text: copy, paste, clear, follow its links. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type BrowserDevice,
  joinRoom,
  showsStatus,
  showsText,
  startRoom,
  startTestSite,
  textOf,
} from '../support/page.ts';
import { agreedText } from './support/typing.ts';

const noticeUndo = ({ page }: BrowserDevice) => page.locator('.notice').getByRole('button', { name: 'Undo' });
const clipboard = { permissions: ['clipboard-read', 'clipboard-write'] };

describe('the page, the tools of the text', () => {
  it('[PAGE-9] copy the whole text, and paste at the cursor', async (t) => {
    const site = await startTestSite(t);
    const laptop = await site.openDevice(clipboard);
    const { page } = laptop;
    const code = await startRoom(laptop);
    const phone = await joinRoom(site, code);
    assert.ok(await page.getByRole('button', { name: 'Copy all' }).isDisabled(), 'there is nothing to copy yet');
    await textOf(laptop).fill('two\nlines 😀');
    await page.getByRole('button', { name: 'Copy all' }).click();
    await page.getByText('Copied.').waitFor();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), 'two\nlines 😀');

    await page.evaluate(() => navigator.clipboard.writeText(' more'));
    await textOf(laptop).evaluate((field: HTMLTextAreaElement) => field.setSelectionRange(3, 3));
    await page.getByRole('button', { name: 'Paste' }).click();
    for (const device of [laptop, phone]) await showsText(device, 'two more\nlines 😀');
  });

  it('[PAGE-9] copy over plain HTTP, where pasting needs the keyboard', async (t) => {
    const host = 'pop.test';
    const site = await startTestSite(t, {}, { host, browserArgs: [`--host-resolver-rules=MAP ${host} 127.0.0.1`] });
    const laptop = await site.openDevice();
    const { page } = laptop;
    await startRoom(laptop);
    assert.equal(await page.evaluate(() => isSecureContext), false);
    await textOf(laptop).fill('over plain HTTP');
    await page.getByRole('button', { name: 'Copy all' }).click();
    await page.getByText('Copied.').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Paste' }).count(), 0);
    await textOf(laptop).fill('');
    await textOf(laptop).press('ControlOrMeta+v');
    await showsText(laptop, 'over plain HTTP');
  });

  it('[PAGE-9] clear it on all devices, with undo', async (t) => {
    const site = await startTestSite(t);
    const laptop = await site.openDevice();
    const code = await startRoom(laptop);
    const phone = await joinRoom(site, code);
    await textOf(laptop).fill('by mistake');
    await showsText(phone, 'by mistake');
    await laptop.page.getByRole('button', { name: 'Clear' }).click();
    for (const device of [laptop, phone]) await showsText(device, '');
    await textOf(phone).fill('meanwhile');
    await showsText(laptop, 'meanwhile');
    await noticeUndo(laptop).click();
    await agreedText(site, code, [laptop, phone]);
    assert.deepEqual((await textOf(phone).inputValue()).split('\n').sort(), ['by mistake', 'meanwhile']);
  });

  it('[PAGE-9] offer to undo Clear only until the next local edit', async (t) => {
    const site = await startTestSite(t);
    const laptop = await site.openDevice();
    const code = await startRoom(laptop);
    const phone = await joinRoom(site, code);
    await textOf(laptop).fill('by mistake');
    await showsText(phone, 'by mistake');
    await laptop.page.getByRole('button', { name: 'Clear' }).click();
    await showsText(phone, '');
    await textOf(phone).fill('of others');
    await showsText(laptop, 'of others');
    await noticeUndo(laptop).waitFor();
    await textOf(laptop).pressSequentially('x');
    await noticeUndo(laptop).waitFor({ state: 'detached' });
  });

  it('[PAGE-9] show it in a monospace font, and remember the choice', async (t) => {
    const site = await startTestSite(t);
    const laptop = await site.openDevice();
    await startRoom(laptop);
    const font = () => textOf(laptop).evaluate((field) => getComputedStyle(field).fontFamily);
    const button = laptop.page.getByRole('button', { name: 'Monospace font' });
    assert.doesNotMatch(await font(), /mono/i);
    await button.click();
    assert.match(await font(), /mono/i);
    await laptop.page.reload();
    await laptop.page.getByRole('button', { name: 'Monospace font', pressed: true }).waitFor();
    assert.match(await font(), /mono/i);
  });

  it('[PAGE-9] [PAGE-22] show its web links, and no other links', async (t) => {
    const site = await startTestSite(t);
    const laptop = await site.openDevice();
    await startRoom(laptop);
    await textOf(laptop).fill(
      [
        'see https://example.org/a?b=c#d, (http://example.com/x)',
        'javascript:alert(1) JAVASCRIPT://example.org/%0aalert(1) data:text/html,<script>alert(1)</script>',
        'ftp://files.example.org file:///etc/passwd someone@example.org vbscript:x //other.example.org',
      ].join('\n'),
    );
    const links = laptop.page.getByRole('navigation', { name: 'Links in the text' }).getByRole('link');
    await links.first().waitFor();
    const found = await links.evaluateAll((all) =>
      all.map((link) => ({ href: link.getAttribute('href'), rel: link.getAttribute('rel') })),
    );
    const addresses = found.map(({ href }) => href);
    for (const wanted of ['https://example.org/a?b=c#d', 'http://example.com/x'])
      assert.ok(addresses.includes(wanted), `${wanted} is among ${addresses}`);
    for (const { href, rel } of found) {
      assert.match(href ?? '', /^https?:\/\//);
      assert.doesNotMatch(href ?? '', /alert|files\.|passwd/);
      assert.equal(rel, 'noopener noreferrer');
    }
    assert.equal(await laptop.page.locator('a[href^="javascript" i], a[href^="data"]').count(), 0);
    await textOf(laptop).fill('no link at all');
    await links.first().waitFor({ state: 'detached' });
  });

  it('[PAGE-9] open a link in a window without access to the page', async (t) => {
    const site = await startTestSite(t);
    const laptop = await site.openDevice();
    await startRoom(laptop);
    await textOf(laptop).fill(`read ${site.server.url}/docs`);
    await showsStatus(laptop, 'Saved');
    const opening = laptop.context.waitForEvent('page');
    await laptop.page.getByRole('link', { name: '/docs' }).click();
    const opened = await opening;
    await opened.waitForLoadState('domcontentloaded');
    assert.equal(opened.url(), `${site.server.url}/docs`);
    assert.deepEqual(await opened.evaluate(() => [window.opener, document.referrer]), [null, '']);
  });
});
