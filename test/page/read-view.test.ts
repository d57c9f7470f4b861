/** The text as it is read, and on the screen of a television. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { eventually } from '../support/eventually.ts';
import {
  type BrowserDevice,
  chooseEntry,
  hasFocus,
  joinRoom,
  leaveDisplayMode,
  sharedTestSite,
  showsText,
  type TestSite,
  textOf,
} from '../support/page.ts';
import { addFiles, createRoom, pathOf } from './support/encrypted-files.ts';
import { picture } from './support/files.ts';
import { write } from './support/typing.ts';

const sample = [
  '# Shopping',
  '- [x] bread\n- [ ] butter',
  'See https://example.org/a and [evil](javascript:alert(1)).',
  '<img src=x onerror="document.title=1"> <b>bold</b>',
  '![a logo](logo.png) ![elsewhere](https://example.org/spy.png)',
  '| a | b |\n|---|---|\n| 1 | 2 |',
  '```js\nconst answer = 42;\n```',
].join('\n\n');

const reading = (page: Page) => page.getByRole('region', { name: 'Reading view' });
const display = (page: Page) => page.getByRole('dialog', { name: 'Display mode' });

describe('the page, the read view', () => {
  it('[VIEW-1] [VIEW-2] [VIEW-3] [VIEW-5] [VIEW-9] [VIEW-10] [VIEW-11] [PAGE-100] shows Markdown, images and code, also in display mode', async (t) => {
    const site = await sharedTestSite(t);
    const code = await site.server.api.room();
    const device = await joinRoom(site, code, { permissions: ['clipboard-read', 'clipboard-write'] });
    await t.test(
      '[VIEW-10] [VIEW-11] [PAGE-100] is large in display mode, with the newest image, until a key is pressed',
      () => displayRoom(site, code, device),
    );
    await leaveDisplayMode(device);
    await t.test(
      '[VIEW-1] [VIEW-2] [VIEW-3] [VIEW-5] [VIEW-9] has the images of the room and code, follows changes, and can be searched',
      () => readRoom(site, code, device),
    );
  });

  it('[slow] [VIEW-4] shows a text that is too long or too complex without formatting, and stays responsive', async (t) => {
    const site = await sharedTestSite(t);
    const code = await site.server.api.room();
    await write(site, code, `${'> '.repeat(400)}needle`);
    const { page } = await joinRoom(site, code);
    await chooseEntry(page, 'Reading view');
    await reading(page).getByText('This text is too long to format.').waitFor();
    await reading(page).getByText('needle').waitFor();
    await write(site, code, `${'[*_`line of a long text\n'.repeat(20_000)}last`);
    await eventually('the text is shown as it is', () =>
      reading(page).evaluate((view) => view.textContent.endsWith('last')),
    );
    assert.ok(await finds(page, 'last'), 'all of it is searched');
  });

  it('[slow] [VIEW-3] shows decrypted images in an encrypted room', async (t) => {
    const site = await sharedTestSite(t);
    const room = await createRoom(site);
    await addFiles(room, [{ name: 'logo.png', type: 'image/png', content: picture }]);
    await room.write('![a logo](logo.png)');
    const { page } = await site.openDevice({ at: `/r/${pathOf(room)}` });
    await chooseEntry(page, 'Reading view');
    const image = reading(page).getByRole('img', { name: 'a logo' });
    await eventually('the image is decrypted', () =>
      image.evaluate((shown: HTMLImageElement) => shown.src.startsWith('blob:') && shown.naturalWidth > 0),
    );
  });
});

async function displayRoom(site: TestSite, code: string, device: BrowserDevice): Promise<void> {
  const { page } = device;
  await page.evaluate(countWakeLocks);
  await chooseEntry(page, 'Display mode');
  await display(page).getByText('Text and pictures from this room appear here.').waitFor();
  await display(page).getByRole('img', { name: 'QR code for this room' }).waitFor();
  const hasLocks = (n: number) => page.waitForFunction((n) => (window as { locks?: number }).locks === n, n);
  await hasLocks(1);
  await write(site, code, '# Welcome');
  const heading = display(page).getByRole('heading', { name: 'Welcome' });
  await heading.waitFor();
  assert.ok((await heading.evaluate((element) => Number.parseFloat(getComputedStyle(element).fontSize))) > 60);
  await site.server.api.upload(code, 'logo.png', new Uint8Array(picture), { headers: { 'content-type': 'image/png' } });
  const image = display(page).getByRole('img', { name: 'logo.png' });
  await eventually('the image fills the screen', async () => ((await image.boundingBox())?.height ?? 0) >= 700);
  await page.keyboard.press('Control');
  await page.keyboard.press('a');
  await display(page).waitFor({ state: 'detached' });
  await hasFocus(textOf(device));
  await showsText(device, '# Welcome');
  await hasLocks(0);
  await chooseEntry(page, 'Display mode');
  await display(page).waitFor();
  await page.reload();
  await display(page).waitFor();
}

async function readRoom(site: TestSite, code: string, device: BrowserDevice): Promise<void> {
  const { page } = device;
  await write(site, code, sample);
  await eventually('the field is searched', () => finds(page, 'butter'));
  await chooseEntry(page, 'Reading view');
  const view = reading(page);
  await view.getByRole('heading', { name: 'Shopping' }).waitFor();
  await textOf(device).waitFor({ state: 'hidden' });
  assert.ok(await view.getByRole('checkbox', { name: 'bread' }).isChecked());
  assert.ok(await view.getByRole('checkbox', { name: 'butter' }).isDisabled());
  const links = await view
    .getByRole('link')
    .evaluateAll((all) => all.map((link) => [link.getAttribute('href'), link.getAttribute('rel')]));
  assert.deepEqual(links, [['https://example.org/a', 'noopener noreferrer']]);
  await view.getByText('<b>bold</b>').waitFor();
  assert.equal(await view.getByRole('cell').count(), 2);
  await view.getByRole('img', { name: 'a logo' }).waitFor();
  assert.equal(await view.locator('img').count(), 1, 'no image from elsewhere');
  await view.locator('.hl-keyword').getByText('const').waitFor();
  await view.getByRole('button', { name: 'Copy code block' }).click();
  await eventually('the code is copied', async () => (await copied(page)) === 'const answer = 42;');
  assert.ok(await finds(page, 'butter'), 'the read view is searched');

  const before = await page.getByRole('button', { name: 'Add files' }).boundingBox();
  await write(site, code, `${sample}\n\n${'a new line\n\n'.repeat(200)}end`);
  await view.getByText('end', { exact: true }).waitFor();
  assert.deepEqual(await page.getByRole('button', { name: 'Add files' }).boundingBox(), before, 'nothing moves');
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  await hasFocus(textOf(device));
}

/** Whether the browser's own search finds words in the page. */
const finds = (page: Page, words: string): Promise<boolean> =>
  page.evaluate((words) => {
    getSelection()?.removeAllRanges();
    return (window as unknown as { find(text: string, ...options: boolean[]): boolean }).find(
      words,
      false,
      false,
      true,
    );
  }, words);

const copied = (page: Page) => page.evaluate(() => navigator.clipboard.readText());

/** The browser of the tests has no screen to keep awake. */
function countWakeLocks(): void {
  const state = window as { locks?: number };
  state.locks = 0;
  const request = async () => {
    state.locks = (state.locks ?? 0) + 1;
    const release = async () => {
      state.locks = (state.locks ?? 1) - 1;
    };
    return { release };
  };
  Object.defineProperty(navigator, 'wakeLock', { value: { request } });
}
