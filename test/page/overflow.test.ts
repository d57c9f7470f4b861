/** Every view in every language, on the narrowest phone and on a desk: nothing sticks out. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { startTestSite } from '../support/page.ts';
import { allViews, languages, translatorFor } from './support/views.ts';

describe('the page, width', () => {
  for (const language of languages) {
    it(`[PAGE-20] is not exceeded by any view in "${language}", from 320 to 1280 pixels`, async (t) => {
      const site = await startTestSite(t, {}, { hasServiceWorker: true });
      const views = await allViews(site);
      const { page, context } = await site.openDevice({ locale: language, viewport: { width: 320, height: 640 } });
      const translate = translatorFor(language);
      const faults: string[] = [];
      for (const [name, show] of Object.entries(views)) {
        await context.setOffline(false);
        await show(page, translate);
        assert.equal(await page.locator('html').getAttribute('lang'), language);
        for (const width of [320, 1280]) {
          await page.setViewportSize({ width, height: 640 });
          faults.push(...(await overflowing(page)).map((fault) => `${name}, ${width} px: ${fault}`));
        }
      }
      assert.deepEqual(faults, []);
    });
  }
});

/** What is wider than its place, but for what is meant to scroll or to end in an ellipsis. */
function overflowing(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const faults: string[] = [];
    const width = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth > width)
      faults.push(`the page is ${document.documentElement.scrollWidth}`);

    for (const element of document.body.querySelectorAll<HTMLElement>('*')) {
      const { left, right, width: own } = element.getBoundingClientRect();
      // What only a screen reader is to find is a pixel wide.
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
