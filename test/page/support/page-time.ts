/** The time in a page: when it has drawn, and how long it shows something. */
import type { Page } from 'playwright-core';

/** Waits until the page has drawn what it shows, and has run the effects that follow. */
export const drawn = (page: Page): Promise<unknown> =>
  page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))));

/** From now on, what the page shows for a few seconds stays, however slow the machine is. */
export const holdTimers = (page: Page): Promise<void> =>
  page.evaluate(() => {
    const later = window.setTimeout.bind(window);
    const held = (act: () => void, ms = 0, ...rest: []) => later(act, ms >= 2_000 ? 600_000 : ms, ...rest);
    Object.assign(window, { setTimeout: held });
  });
