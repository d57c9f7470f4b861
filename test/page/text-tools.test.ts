/** The tools for the text: copy, paste, clear, follow its links. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { eventually } from '../support/eventually.ts';
import {
  type BrowserDevice,
  chooseEntry,
  codeOf,
  hasFocus,
  joinRoom,
  sharedTestSite,
  showsStatus,
  showsText,
  startTestSite,
  type TestSite,
  textOf,
} from '../support/page.ts';
import { holdTimers } from './support/page-time.ts';
import { agreedText } from './support/typing.ts';

const noticeUndo = ({ page }: BrowserDevice) => page.locator('.notice').getByRole('button', { name: 'Undo' });
const clipboard = { permissions: ['clipboard-read', 'clipboard-write'] };

describe('the page, the tools of the text', () => {
  it('[PAGE-9] [PAGE-51] [PAGE-60] copy, paste, save and print the text', async (t) => {
    const site = await sharedTestSite(t);
    const code = await site.server.api.room();
    const content = `${'line\n'.repeat(60)}the end`;
    await site.server.api.upload(code, 'notes.pdf', 'x');
    await site.server.api.post(`/api/rooms/${code}/content`, { json: { content } });
    const laptop = await joinRoom(site, code, { ...clipboard, timezoneId: 'Asia/Tokyo' });
    await showsText(laptop, content);
    await t.test('[PAGE-60] save it as a file, and print it with the names of the files', () =>
      saveAndPrint(laptop, content),
    );
    await t.test('[PAGE-51] paste on a line of its own before the caret is placed, and images as files', () =>
      pasteAtEnd(laptop, content),
    );
    await t.test('[PAGE-9] copy the whole text, and paste at the cursor', () => copyAndPaste(laptop, site));
  });

  it('[slow] [PAGE-9] [PAGE-51] copy over plain HTTP, where a field takes what is pasted', async (t) => {
    const site = await startTestSite(t, {}, { host: 'pop.test' });
    const laptop = await joinRoom(site, await site.server.api.room());
    const { page } = laptop;
    assert.equal(await page.evaluate(() => isSecureContext), false);
    await textOf(laptop).fill('over plain HTTP');
    await page.getByRole('button', { name: 'Copy all' }).click();
    await page.getByText('Copied.').waitFor();
    const paste = page.getByRole('button', { name: 'Paste' });
    await paste.click();
    const field = page.getByRole('textbox', { name: 'Press Ctrl+V, or hold the field and choose Paste.' });
    await hasFocus(field);
    await page.keyboard.press('ControlOrMeta+v');
    await field.waitFor({ state: 'detached' });
    await showsText(laptop, 'over plain HTTPover plain HTTP');
    await hasFocus(textOf(laptop));

    await paste.click();
    await field.evaluate((element) => {
      const clipboardData = new DataTransfer();
      clipboardData.items.add(new File(['x'], 'image.png', { type: 'image/png' }));
      element.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
    });
    await page.getByRole('link', { name: /^Download screenshot-.*\.png$/ }).waitFor();
    assert.equal(await field.count(), 0);
  });

  it('[slow] [PAGE-9] clear it on all devices, with undo', async (t) => {
    const site = await sharedTestSite(t);
    const code = await site.server.api.room();
    const laptop = await joinRoom(site, code);
    const phone = await joinRoom(site, code);
    await textOf(laptop).fill('by mistake');
    await showsText(phone, 'by mistake');
    await holdTimers(laptop.page);
    await chooseEntry(laptop.page, 'Clear');
    for (const device of [laptop, phone]) await showsText(device, '');
    await textOf(phone).fill('meanwhile');
    await showsText(laptop, 'meanwhile');
    await noticeUndo(laptop).click();
    await agreedText(site, code, [laptop, phone]);
    assert.deepEqual((await textOf(phone).inputValue()).split('\n').sort(), ['by mistake', 'meanwhile']);
  });

  it('[slow] [PAGE-9] offer to undo Clear only until the next local edit', async (t) => {
    const site = await sharedTestSite(t);
    const code = await site.server.api.room();
    const laptop = await joinRoom(site, code);
    const phone = await joinRoom(site, code);
    await textOf(laptop).fill('by mistake');
    await showsText(phone, 'by mistake');
    await holdTimers(laptop.page);
    await chooseEntry(laptop.page, 'Clear');
    await showsText(phone, '');
    await textOf(phone).fill('of others');
    await showsText(laptop, 'of others');
    await noticeUndo(laptop).waitFor();
    await textOf(laptop).pressSequentially('x');
    await noticeUndo(laptop).waitFor({ state: 'detached' });
  });

  it('[slow] [PAGE-9] show it in a monospace font, and remember the choice', async (t) => {
    const site = await sharedTestSite(t);
    const laptop = await joinRoom(site, await site.server.api.room());
    const font = () => textOf(laptop).evaluate((field) => getComputedStyle(field).fontFamily);
    assert.doesNotMatch(await font(), /mono/i);
    await chooseEntry(laptop.page, 'Monospace font');
    await eventually('the font has changed', async () => /mono/i.test(await font()));
    await laptop.page.reload();
    await laptop.page.getByRole('button', { name: 'More' }).click();
    await laptop.page.getByRole('menuitemcheckbox', { name: 'Monospace font', checked: true }).waitFor();
    assert.match(await font(), /mono/i);
  });

  it('[slow] [PAGE-9] [PAGE-22] [PAGE-60] show its links, e-mail addresses and phone numbers, and no other links', async (t) => {
    const site = await sharedTestSite(t);
    const laptop = await joinRoom(site, await site.server.api.room());
    await textOf(laptop).fill(
      [
        'see https://example.org/a?b=c#d, (http://example.com/x)',
        'javascript:alert(1) JAVASCRIPT://example.org/%0aalert(1) data:text/html,<script>alert(1)</script>',
        'ftp://files.example.org file:///etc/passwd someone@example.org vbscript:x //other.example.org',
        'mailto:ada@example.org?body=alert Tel. +44 20 7946 0958, (555) 010-1234, 030/1234567.',
        'On 01.02.2026 at 10:00, order 12345678901, 192.168.0.100, 2026-11-16',
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
    assert.deepEqual(
      addresses.filter((address) => !address?.startsWith('http')),
      ['mailto:someone@example.org', 'mailto:ada@example.org', 'tel:+442079460958', 'tel:5550101234', 'tel:0301234567'],
    );
    for (const { href, rel } of found) {
      assert.match(href ?? '', /^(https?:\/\/|mailto:|tel:)/);
      assert.doesNotMatch(href ?? '', /alert|files\.|passwd/);
      assert.equal(rel, 'noopener noreferrer');
    }
    assert.equal(await laptop.page.locator('a[href^="javascript" i], a[href^="data"]').count(), 0);
    await textOf(laptop).fill('no link at all');
    await links.first().waitFor({ state: 'detached' });
  });

  it('[slow] [PAGE-9] open a link in a window without access to the page', async (t) => {
    const site = await sharedTestSite(t);
    const laptop = await joinRoom(site, await site.server.api.room());
    await textOf(laptop).fill(`read ${site.server.url}/docs`);
    await showsStatus(laptop, 'Saved');
    const opening = laptop.context.waitForEvent('page');
    await laptop.page.getByRole('link', { name: '/docs' }).click();
    const opened = await opening;
    await opened.waitForURL(`${site.server.url}/docs`);
    assert.deepEqual(await opened.evaluate(() => [window.opener, document.referrer]), [null, '']);
  });
});

async function saveAndPrint({ page }: BrowserDevice, content: string): Promise<void> {
  const today = () => new Date().toLocaleDateString('sv', { timeZone: 'Asia/Tokyo' });
  // Midnight may pass.
  const days = [today()];
  const downloading = page.waitForEvent('download');
  await chooseEntry(page, 'Save as text file');
  const download = await downloading;
  days.push(today());
  const name = download.suggestedFilename();
  assert.ok(days.map((day) => `poproom-${codeOf(page)}-${day}.txt`).includes(name), `${name}, not of ${days}`);
  assert.equal(await readFile(await download.path(), 'utf8'), content);

  await page.emulateMedia({ media: 'print', reducedMotion: 'reduce' });
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
  const printed = await page.locator('body').innerText();
  assert.match(printed, /Text\s+line\n/);
  assert.match(printed, /the end\s+Files\s+notes\.pdf/);
  assert.doesNotMatch(printed, /Copy|Delete|Expires|Chrome/);
  await page.evaluate(() => dispatchEvent(new Event('afterprint')));
  assert.equal(await page.locator('.printed-text').count(), 0);
  await page.emulateMedia({ media: null });
}

async function pasteAtEnd(laptop: BrowserDevice, content: string): Promise<void> {
  const { page } = laptop;
  const paste = page.getByRole('button', { name: 'Paste' });
  await page.evaluate(() => navigator.clipboard.writeText('mine'));
  await paste.click();
  await showsText(laptop, `${content}\nmine`);
  await paste.click();
  await showsText(laptop, `${content}\nminemine`);

  await page.evaluate(async () => {
    const canvas = new OffscreenCanvas(2, 2);
    canvas.getContext('2d');
    await navigator.clipboard.write([new ClipboardItem({ 'image/png': canvas.convertToBlob() })]);
  });
  await paste.click();
  await page.getByRole('link', { name: /^Download screenshot-.*\.png$/ }).waitFor();
  await showsText(laptop, `${content}\nminemine`);
}

async function copyAndPaste(laptop: BrowserDevice, { server }: TestSite): Promise<void> {
  const { page } = laptop;
  const copy = page.getByRole('button', { name: 'Copy all' });
  await textOf(laptop).fill('');
  // There is nothing to copy.
  await copy.and(page.locator(':disabled')).waitFor();
  await textOf(laptop).fill('two\nlines 😀');
  await copy.click();
  await page.getByText('Copied.').waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), 'two\nlines 😀');

  await page.evaluate(() => navigator.clipboard.writeText(' more'));
  await textOf(laptop).evaluate((field: HTMLTextAreaElement) => field.setSelectionRange(3, 3));
  await page.getByRole('button', { name: 'Paste' }).click();
  await showsText(laptop, 'two more\nlines 😀');
  await eventually('the text is stored', async () => {
    const { json } = await server.api.get(`/api/rooms/${codeOf(page)}/content`);
    return json.content === 'two more\nlines 😀';
  });
}
