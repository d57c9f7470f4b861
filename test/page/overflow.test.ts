/** Every view in every language, on the narrowest phone and on a desk: nothing sticks out. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { startTestSite } from '../support/page.ts';
import { waitForServiceWorker } from './support/service-worker.ts';
import { allViews, type Language, languages, switchLanguage, translatorFor } from './support/views.ts';

/** The longest words, the longest strings, and right to left. */
const atAnyWidth: readonly Language[] = ['de', 'ru', 'ar'];

describe('the page, width', () => {
  // Opening a view takes far longer than measuring it. So each view is opened once, in a language that is written from
  // right to left, and then changes its language. Only messages that answer a click keep the first language.
  it('[PAGE-20] is not exceeded by any view in any language, from 320 to 1280 pixels', {
    timeout: 300_000,
  }, async (t) => {
    const site = await startTestSite(t, {}, { hasServiceWorker: true });
    const views = await allViews(site);
    const { page, context } = await site.openDevice();
    // From here on, the service worker has every language, also for the views without a network.
    await waitForServiceWorker(page);
    for (const language of languages) await switchLanguage(page, language);
    const faults: string[] = [];
    for (const [name, show] of Object.entries(views)) {
      await context.setOffline(false);
      await switchLanguage(page, 'ar');
      await show(page, translatorFor('ar'));
      for (const [width, measured] of Object.entries({ 320: languages, 1280: atAnyWidth })) {
        await page.setViewportSize({ width: Number(width), height: 640 });
        for (const language of measured) {
          await switchLanguage(page, language);
          faults.push(...(await overflowing(page)).map((fault) => `${name}, ${language}, ${width} px: ${fault}`));
        }
      }
    }
    assert.deepEqual(faults, []);
  });
});

/** The elements that overflow, except for those that scroll or end in an ellipsis. */
function overflowing(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const faults: string[] = [];
    const width = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth > width)
      faults.push(`the page is ${document.documentElement.scrollWidth}`);

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
  });
}
