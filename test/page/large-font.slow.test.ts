/** Large text: a root font of 200 %, as people choose it in their browser. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { startTestSite } from '../support/page.ts';
import { arrived } from './support/files.ts';
import { drawn } from './support/page-time.ts';
import { switchLanguage } from './support/views.ts';

describe('the page, with a root font of 200 %', () => {
  it('[PAGE-116] overflows nowhere from 320 pixels up', async (t) => {
    const site = await startTestSite(t, { POPROOM_ADMIN_TOKEN: 'a token that is long enough for a test' });
    const { api } = site.server;
    const code = await api.room();
    await api.upload(code, 'whiteboard photo of the meeting.png', 'x');
    await api.upload(code, 'notes.txt', 'x');
    await api.upload(code, `${'W'.repeat(251)}.txt`, 'x');
    for (let n = 0; n < 20; n++)
      await api.get(`/api/rooms/${code}`, {
        headers: { 'x-device-id': `device-${n}`, 'x-device-name': 'Patient Hedgehog' },
      });
    await api.post(`/api/rooms/${code}/content`, { json: { content: 'https://example.org/a-long-link-in-the-text' } });
    const { page } = await site.openDevice({ viewport: { width: 320, height: 640 } });
    const faults: string[] = [];
    const check = async (view: string) => {
      await page.evaluate(() => document.documentElement.style.setProperty('font-size', '200%'));
      for (const width of [320, 390, 768]) {
        await page.setViewportSize({ width, height: 640 });
        // The page learns of a new width when it is next drawn.
        await drawn(page);
        faults.push(...(await tooWide(page)).map((fault) => `${view} at ${width}: ${fault}`));
      }
    };
    const checkDialog = async (button: string) => {
      await page.getByRole('button', { name: button, exact: true }).click();
      await page.locator('dialog[open], [role=menu]').waitFor();
      await check(button);
      await page.keyboard.press('Escape');
    };
    await page.getByText('Options').click();
    await check('home');
    await checkDialog('Settings');
    await page.goto(`/r/${code}`);
    await arrived(page, 'notes.txt');
    await page.getByRole('navigation').waitFor();
    await check('room');
    const name = page.getByRole('link', { name: 'whiteboard photo of the meeting.png', exact: true });
    await page.setViewportSize({ width: 320, height: 640 });
    await drawn(page);
    const width = (await name.boundingBox())?.width ?? 0;
    assert.ok(width > 150, `the name of a file has ${width} pixels`);
    for (const button of ['Invite', 'Room settings', 'More', 'Add files']) await checkDialog(button);
    // The longest words.
    await switchLanguage(page, 'de');
    await check('room in German');
    for (const path of ['/docs', '/admin']) {
      await page.goto(path);
      await check(path);
    }
    assert.deepEqual(faults, []);
  });
});

/** The page, or elements that are cut off, except in a list of links that scrolls. */
const tooWide = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const width = document.documentElement.clientWidth;
    const { scrollWidth } = document.documentElement;
    const isScrolled = (element: Element) => element.closest('.links, pre, .table, .skip-link, .visually-hidden');
    const cut = [...document.body.querySelectorAll('*')].filter((element) => {
      const { left, right, width: own } = element.getBoundingClientRect();
      return own > 1 && !isScrolled(element) && (left < -1 || right > width + 1);
    });
    return [
      ...(scrollWidth > width ? [`the page has ${scrollWidth} pixels`] : []),
      ...cut.map(
        ({ localName, className, textContent }) => `<${localName} class="${className}"> ${textContent?.slice(0, 30)}`,
      ),
    ];
  });
