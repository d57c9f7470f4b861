/** Every view: nothing overflows in any language, and axe-core finds nothing. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { startTestSite } from '../support/page.ts';
import { encryptionTexts } from './support/encryption-views.ts';
import { drawn } from './support/page-time.ts';
import { waitForServiceWorker } from './support/service-worker.ts';
import { allViews, type Language, languages, switchLanguage, switchLanguages, translatorFor } from './support/views.ts';

/** The longest words, the longest strings, and right to left. */
const atAnyWidth: readonly Language[] = ['de', 'ru', 'ar'];

/** WCAG 2.2 AA, and the good practices of axe-core. */
const all: axe.RunOnly = {
  type: 'tag',
  values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
};
const ofColours: axe.RunOnly = { type: 'rule', values: ['color-contrast', 'link-in-text-block'] };

/** The most common views, which axe-core also checks from right to left. */
const main: readonly string[] = ['home with options', 'settings', 'PIN', 'full room', 'history', 'share'];

describe('the page, every view', () => {
  // Opening a view takes far longer than checking it. So each view is opened once, in a language that is written from
  // right to left, and then changes its language. Only messages that answer a click keep the first language.
  it('[PAGE-20] [PAGE-21] fits from 320 to 1280 pixels in all languages, and passes axe-core in light and dark', {
    timeout: 540_000,
  }, async (t) => {
    // The settings of a room then have webhooks.
    const site = await startTestSite(t, { POPROOM_WEBHOOK_HOSTS: 'example.org' }, { hasServiceWorker: true });
    const views = await allViews(site);
    const { page, context } = await site.openDevice();
    // From here on, the service worker has every language, also for the views without a network.
    await waitForServiceWorker(page);
    await switchLanguages(page, languages, () => []);
    const faults: string[] = [];
    for (const [name, show] of Object.entries(views)) {
      await context.setOffline(false);
      await page.setViewportSize({ width: 1280, height: 720 });
      await switchLanguage(page, 'ar');
      await show(page, translatorFor('ar'));
      const found = [...(await inaccessible(page, main.includes(name))), ...(await overflowing(page, name))];
      faults.push(...found.map((fault) => `${name}, ${fault}`));
    }
    assert.deepEqual(faults, []);
  });
});

async function inaccessible(page: Page, isMain: boolean): Promise<string[]> {
  const found: string[] = [];
  const check = async (where: string, rules: axe.RunOnly) =>
    found.push(...(await violations(page, rules)).map((violation) => `${where}: ${violation}`));
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe.source);
  await page.emulateMedia({ colorScheme: 'light' });
  if (isMain) await check('Arabic', all);
  await switchLanguage(page, 'en');
  await check('light', all);
  await page.emulateMedia({ colorScheme: 'dark' });
  await check('dark', ofColours);
  return found;
}

async function violations(page: Page, runOnly: axe.RunOnly): Promise<string[]> {
  const { violations } = await page.evaluate(
    // The details of checks that passed are not used, and the style sheets are already loaded.
    (runOnly) =>
      (window as unknown as { axe: typeof axe }).axe.run({ runOnly, resultTypes: ['violations'], preload: false }),
    runOnly,
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 120)} ${failureSummary}`),
  );
}

async function overflowing(page: Page, view: string): Promise<string[]> {
  const found: string[] = [];
  for (const [width, measured] of Object.entries({ 320: languages, 1280: atAnyWidth })) {
    await page.setViewportSize({ width: Number(width), height: 640 });
    // The page learns of a new width when it is next drawn, which takes longer on a busy machine.
    await drawn(page);
    for (const [language, faults] of await switchLanguages(page, measured, tooWide, encryptionTexts[view]))
      found.push(...faults.map((fault) => `${language}, ${width} px: ${fault}`));
  }
  return found;
}

/** The elements that overflow, except for those that scroll or end in an ellipsis. Runs in the page. */
function tooWide(): string[] {
  const faults: string[] = [];
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > width) faults.push(`the page is ${document.documentElement.scrollWidth}`);

  for (const element of document.body.querySelectorAll<HTMLElement>('*')) {
    const { left, right, width: own } = element.getBoundingClientRect();
    // Elements only for screen readers are a pixel wide.
    if (!(element instanceof HTMLElement) || own <= 1 || element.matches('input, select, .skip-link')) continue;
    const { overflowX, textOverflow, display } = getComputedStyle(element);
    const mayScroll = textOverflow === 'ellipsis' || overflowX === 'auto' || overflowX === 'scroll';
    const words = `<${element.localName} class="${element.className}"> ${element.textContent?.slice(0, 40)}`;
    if (left < -0.5 || right > width + 0.5) faults.push(`${Math.round(left)} to ${Math.round(right)}: ${words}`);
    else if (!mayScroll && display !== 'inline' && element.scrollWidth > element.clientWidth + 1) {
      faults.push(`${element.scrollWidth} in ${element.clientWidth}: ${words}`);
    }
  }
  return faults;
}
