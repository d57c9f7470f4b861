/** A room is simple: few buttons, which stay where they are. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { joinRoom as joinByScript } from '../support/device.ts';
import { eventually } from '../support/eventually.ts';
import { chooseEntry, hasFocus, joinRoom, sharedTestSite, textOf } from '../support/page.ts';
import { arrived, rowOf } from './support/files.ts';

const phone = { viewport: { width: 390, height: 844 }, hasTouch: true };
const smallPhone = { viewport: { width: 320, height: 640 }, hasTouch: true };
const computer = { viewport: { width: 1280, height: 800 } };

describe('the page, an empty room', () => {
  it('[PAGE-110] [PAGE-7] [PAGE-32] has few buttons, and says nothing about limits or saving', async (t) => {
    const site = await sharedTestSite(t);
    for (const [options, most] of [
      [computer, 9],
      [phone, 7],
    ] as const) {
      const device = await joinRoom(site, await site.server.api.room(), options);
      const { page } = device;
      const names = await buttonNames(page);
      assert.ok(names.length <= most, names.join(', '));
      for (const words of ['Saved', 'per file']) assert.equal(await isShown(page, words), false, words);
      await page.getByText('Drag files here').waitFor({ state: options === computer ? 'visible' : 'hidden' });
      await textOf(device).fill('a first edit');
      await page.getByRole('button', { name: 'Undo' }).waitFor();
      await page.locator('.status').getByText('Saved').waitFor();
    }
  });

  it('[PAGE-111] has menus that the keyboard opens, uses and closes', async (t) => {
    const site = await sharedTestSite(t);
    const { page } = await joinRoom(site, await site.server.api.room(), computer);
    const more = page.getByRole('button', { name: 'More' });
    const entry = (name: string) => page.getByRole('menuitem', { name });
    await more.press('Enter');
    await hasFocus(page.getByRole('menuitemcheckbox', { name: 'Reading view' }));
    await page.keyboard.press('ArrowDown');
    await hasFocus(entry('Display mode'));
    await page.keyboard.press('End');
    await hasFocus(entry('Clear'));
    await page.keyboard.press('Escape');
    await hasFocus(more);
    await eventually('the menu is closed', async () => (await more.getAttribute('aria-expanded')) === 'false');
    await more.click();
    await entry('Print').waitFor();
    await more.click();
    await page.getByRole('menu').waitFor({ state: 'detached' });
    await chooseEntry(page, 'Version history');
    await page.getByRole('dialog', { name: 'Version history' }).waitFor();
    await page.keyboard.press('Escape');
    await hasFocus(more);
    await page.getByRole('button', { name: 'Add files' }).click();
    await page.getByRole('menu').getByText('Choose files').waitFor();
    assert.deepEqual(await page.getByRole('menu').locator('button').allInnerTexts(), [
      'Choose files',
      'Choose folder',
      'Delete after first download',
    ]);
  });
});

describe('the page, with others in the room', () => {
  it('[PAGE-113] keeps every button in its place, whatever they send', (t) => assertButtonsStay(t, smallPhone));

  it('[slow] [PAGE-113] keeps every button in its place on a computer too', (t) => assertButtonsStay(t, computer));
});

async function assertButtonsStay(t: TestContext, options: BrowserContextOptions): Promise<void> {
  const site = await sharedTestSite(t);
  const code = await site.server.api.room();
  const { page } = await joinRoom(site, code, options);
  await page
    .getByRole('button', { name: 'Copy link' })
    .or(page.getByRole('button', { name: 'Invite' }))
    .first()
    .waitFor();
  const before = await places(page);
  const announced = page.getByText('joined.').first().waitFor();
  const join = async (deviceId: string) => {
    const device = await joinByScript(t, site.server.url, code, { deviceId, deviceName: 'Patient Hedgehog' });
    await device.next('snapshot');
    return device;
  };
  const [other, third] = [await join('other'), await join('third')];
  await announced;
  const content = `https://evil.example/login\n${'a long line of words '.repeat(40)}\n`.repeat(30);
  other.send({ type: 'edit', baseVersion: 0, edits: [{ from: 0, to: 0, insert: content }] });
  await page.getByRole('link', { name: 'evil.example/login' }).waitFor();
  for (const n of [1, 2, 3, 4, 5]) await site.server.api.upload(code, `file-${n}.txt`, 'x');
  await arrived(page, 'file-5.txt');
  await third.leave();
  await eventually('the buttons are where they were', async () => {
    const after = await places(page);
    // The QR code and its button go when somebody has joined; nothing takes their place.
    const kept = Object.keys(before).filter((name) => name !== 'Copy link');
    return kept.every((name) => before[name] === after[name]);
  }).catch(async () => assert.deepEqual(await places(page), before));
  assert.ok(await rowOf(page, 'file-1.txt').isVisible());
}

const buttonNames = (page: Page): Promise<string[]> =>
  page
    .locator('button:visible, [role=button]:visible, select:visible, summary:visible')
    .evaluateAll((all) => all.map((button) => button.getAttribute('aria-label') ?? button.textContent ?? ''));

const isShown = (page: Page, words: string): Promise<boolean> => page.getByText(words).first().isVisible();

/** The centre of each button of the empty room, by its name. */
async function places(page: Page): Promise<Record<string, string>> {
  const all = await page.locator('button:visible').evaluateAll((buttons) =>
    buttons.map((button) => {
      const { x, y, width, height } = button.getBoundingClientRect();
      const name = button.getAttribute('aria-label') ?? button.textContent ?? '';
      return [name, `${Math.round(x + width / 2)}, ${Math.round(y + height / 2)}`] as const;
    }),
  );
  return Object.fromEntries(all);
}
