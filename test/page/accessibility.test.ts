/** Every view against the checks of axe-core for WCAG 2.2 AA, and against its good practices. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { startTestSite } from '../support/page.ts';
import { allViews, switchLanguage, translatorFor } from './support/views.ts';

const all: axe.RunOnly = {
  type: 'tag',
  values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
};
const ofColours: axe.RunOnly = { type: 'rule', values: ['color-contrast', 'link-in-text-block'] };

/** The most common views, which are also checked from right to left. */
const main: readonly string[] = ['home with options', 'settings', 'PIN', 'full room', 'history', 'share'];

describe('the page, accessibility', () => {
  it('[PAGE-21] every view passes axe-core in the light and dark theme, and the main ones in Arabic', {
    timeout: 300_000,
  }, async (t) => {
    const site = await startTestSite(t, {}, { hasServiceWorker: true });
    const views = await allViews(site);
    // Half-way through an animation, colours are not what they will be.
    const { page, context } = await site.openDevice({ reducedMotion: 'reduce' });
    const found: string[] = [];
    for (const [name, show] of Object.entries(views)) {
      await context.setOffline(false);
      await show(page, translatorFor('en'));
      await page.evaluate(axe.source);
      await page.emulateMedia({ colorScheme: 'light' });
      found.push(...(await violations(page, all)).map((violation) => `${name}, light: ${violation}`));
      await page.emulateMedia({ colorScheme: 'dark' });
      found.push(...(await violations(page, ofColours)).map((violation) => `${name}, dark: ${violation}`));
      if (!main.includes(name)) continue;
      await switchLanguage(page, 'ar');
      found.push(...(await violations(page, all)).map((violation) => `${name}, Arabic: ${violation}`));
      await switchLanguage(page, 'en');
    }
    assert.deepEqual(found, []);
  });
});

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
