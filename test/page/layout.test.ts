/** The layout of a room: the text comes first, on small screens too, and nothing shifts. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { eventually } from '../support/eventually.ts';
import { askToDelete, type BrowserDevice, hasFocus, joinRoom, sharedTestSite, textOf } from '../support/page.ts';
import { translatorFor } from './support/views.ts';

declare global {
  interface Window {
    shifted: number;
    largestPaint: number;
  }
}

describe('the page, layout', () => {
  it('[PAGE-52] [PAGE-117] has the text in the first screen, on phones and at 200 % zoom, and fills a large one', async (t) => {
    const site = await sharedTestSite(t);
    const device = await joinRoom(site, await site.server.api.room());
    const { page } = device;
    for (const [width, height] of [
      [320, 568],
      [360, 640],
      [390, 844],
      [800, 600],
      [1280, 600],
    ] as const) {
      await page.setViewportSize({ width, height });
      await eventually(
        `everything fits on ${width} × ${height}`,
        async () => (await outOfReach(page)).length === 0,
      ).catch(async () => assert.deepEqual(await outOfReach(page), [], `${width} × ${height}`));
    }
    // The least height of the text that must be visible.
    for (const [width, height, visible] of [
      [320, 568, 200],
      [390, 844, 300],
      [844, 390, 170],
      [640, 360, 150],
      [1280, 800, 300],
      [1920, 1080, 550],
    ] as const) {
      await page.setViewportSize({ width, height });
      await eventually(`${visible} pixels are visible on ${width} × ${height}`, async () => {
        const box = await textOf(device).boundingBox();
        return Math.min(height, (box?.y ?? 0) + (box?.height ?? 0)) - (box?.y ?? 0) >= visible;
      });
    }
    await page.waitForFunction(() => document.documentElement.scrollHeight <= innerHeight);
    await askToDelete(page);
    const remove = page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true });
    const [filled, plain] = await Promise.all(
      [remove, page.getByRole('button', { name: 'Cancel' })].map((button) =>
        button.evaluate((it) => getComputedStyle(it).backgroundColor),
      ),
    );
    assert.notEqual(filled, plain, 'the button that deletes is filled');
  });

  it('[slow] [PAGE-52] [PAGE-58] [PAGE-119] shows the code and the hint while a room loads, and shifts nothing then and when others join', async (t) => {
    const site = await sharedTestSite(t);
    const code = await site.server.api.room();
    await site.server.api.post(`/api/rooms/${code}/content`, { json: { content: 'a text' } });
    for (const viewport of [
      { width: 390, height: 844 },
      { width: 1280, height: 800 },
    ]) {
      const device = await site.openDevice({ at: '/api/health', viewport });
      const { page } = device;
      await page.addInitScript(countShifts);
      await page.addInitScript(recordLargestPaint);
      const opening = Promise.withResolvers<void>();
      await page.routeWebSocket(/\/live$/, async (socket) => {
        await opening.promise;
        socket.connectToServer();
      });
      await page.goto(`/r/${code}`);
      await page.getByText(`Joining room ${code}…`).waitFor();
      assert.equal((await page.locator('.code [aria-hidden]').allInnerTexts()).join(''), code);
      await page.getByText('Type or paste text.').waitFor();
      await page.waitForFunction(() => window.largestPaint);
      // Presents what is drawn, so that the time of its paint is known.
      await page.screenshot();
      const openedAt = await page.evaluate(() => performance.now());
      opening.resolve();
      await textOf(device).waitFor();
      // It is shown for a few seconds only.
      const announced = page.getByText('joined.').waitFor();
      const other = await joinRoom(site, code);
      await announced;
      assert.equal(await page.evaluate(() => window.shifted), 0, `${viewport.width}`);
      // On a wide screen, the invitation has more words.
      const largestPaint = await page.evaluate(() => window.largestPaint);
      if (viewport.width < 900) assert.ok(largestPaint <= openedAt, `${largestPaint} ms, opened at ${openedAt} ms`);
      await Promise.all([other.context.close(), device.context.close()]);
    }
  });

  it('[PAGE-55] [PAGE-56] shows the whole PIN pad at 320 × 568 pixels, and combines clicked and typed digits', async (t) => {
    const site = await sharedTestSite(t);
    const code = await site.server.api.room({ pin: '1204' });
    const device = await site.openDevice({ at: `/r/${code}`, viewport: { width: 320, height: 568 } });
    const { page } = device;
    const digit = (name: string) => page.getByRole('button', { name, exact: true });
    for (const [width, height] of [
      [568, 320],
      [320, 568],
    ] as const) {
      await page.setViewportSize({ width, height });
      for (const name of ['1', '0', 'Delete last digit'])
        await eventually(`${name} is visible as a whole on ${width} × ${height}`, async () => {
          const box = await digit(name).boundingBox();
          return box && box.y >= 0 && box.y + box.height <= height;
        });
    }
    await digit('1').click();
    await page.keyboard.type('29');
    await page.keyboard.press('Backspace');
    await digit('0').click();
    await page.keyboard.press('4');
    await textOf(device).waitFor();
  });

  it('[slow] [PAGE-55] opens the options without moving what is above, and starts a room with a PIN by keyboard', async (t) => {
    const site = await sharedTestSite(t);
    for (const viewport of [
      { width: 320, height: 568 },
      { width: 1280, height: 800 },
    ]) {
      const { page, context } = await site.openDevice({ viewport });
      const top = async () => (await page.getByText('Options').boundingBox())?.y;
      const before = await top();
      const cards = await page.locator('.home-card').evaluateAll((all) => all.map((card) => card.clientHeight));
      // On a phone, one is below the other.
      const isAlike = Math.abs((cards[0] ?? 0) - (cards[1] ?? 0)) <= 1;
      assert.ok(isAlike || viewport.width === 320, `both cards are ${cards} pixels high`);
      await page.getByText('Options').click();
      await page.getByRole('checkbox', { name: 'Require a PIN' }).check();
      const field = page.getByRole('textbox', { name: '4-digit PIN' });
      await hasFocus(field);
      await page.evaluate(() => scrollTo(0, 0));
      assert.equal(await top(), before);
      assert.notEqual(await field.evaluate((input) => getComputedStyle(input, '::placeholder').fontWeight), '600');
      await page.keyboard.type('1204');
      await page.keyboard.press('Enter');
      await textOf({ page, context }).waitFor();
    }
  });

  it('[PAGE-54] [PAGE-55] [PAGE-59] follows scripts and languages, at 320 pixels', async (t) => {
    const site = await sharedTestSite(t);
    const code = await site.server.api.room();
    await site.server.api.upload(code, 'קובץ.docx', 'x');
    const viewport = { width: 320, height: 568 };
    for (const language of ['de', 'es'] as const) {
      const device = await joinRoom(site, code, { locale: language, viewport });
      const translate = translatorFor(language);
      await eventually('everything can be reached', async () => (await outOfReach(device.page)).length === 0);
      const [first, , second] = translate('friendlyNames').split(';');
      const name = new RegExp(`^(${first}) (${second})$`);
      await device.page.locator('[data-own] .device-name').filter({ hasText: name }).waitFor();
      const tools = device.page.locator('.tools').getByRole('button');
      for (const key of ['copyAll', 'paste', 'more'] as const)
        await tools.and(device.page.getByRole('button', { name: translate(key), exact: true })).waitFor();
      const tops = await tools.evaluateAll((all) => all.map((tool) => tool.getBoundingClientRect().y));
      assert.equal(new Set(tops).size, 1, `${language}: ${tops}`);
      await assertDirections(device);
    }
  });
});

/** The controls of an empty room that are not visible as a whole, or that something covers. */
const outOfReach = (page: Page): Promise<string[]> =>
  page
    .locator('textarea, .invitation-head button, .tools button, .file-picker button, footer button')
    .evaluateAll((controls) =>
      controls
        .filter((control) => {
          const { top, bottom, left, right } = control.getBoundingClientRect();
          const isReached = [top + 2, (top + bottom) / 2, bottom - 2].every((y) => {
            const found = document.elementFromPoint((left + right) / 2, y);
            return found !== null && control.contains(found);
          });
          return top < 0 || bottom > innerHeight || !isReached;
        })
        .map((control) => control.textContent || control.id),
    );

async function assertDirections(device: BrowserDevice): Promise<void> {
  const { page } = device;
  const direction = (selector: string) =>
    page
      .locator(selector)
      .first()
      .evaluate((it) => getComputedStyle(it).direction);
  await textOf(device).fill('שלום');
  assert.equal(await direction('textarea'), 'rtl');
  await textOf(device).fill('hello');
  assert.equal(await direction('textarea'), 'ltr');
  assert.equal(await direction('.device-name'), 'ltr');
  assert.equal(await direction('.file-info a'), 'rtl');
  const [name, details] = await Promise.all([leftOf(page, '.file-info a'), leftOf(page, '.file-info small')]);
  assert.equal(name, details, 'the name is where its details are');
}

const leftOf = async (page: Page, selector: string) => (await page.locator(selector).first().boundingBox())?.x;

/** Counts layout shifts, also those soon after an input. */
function countShifts(): void {
  window.shifted = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) window.shifted += (entry as unknown as { value: number }).value;
  }).observe({ type: 'layout-shift', buffered: true });
}

/** When the largest text or image so far was painted. */
function recordLargestPaint(): void {
  new PerformanceObserver((list) => {
    window.largestPaint = list.getEntries().at(-1)?.startTime ?? 0;
  }).observe({ type: 'largest-contentful-paint', buffered: true });
}
