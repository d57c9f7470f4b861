/** The time in a page: when it has drawn, and how long it shows something. */
import type { Page } from 'playwright-core';

/** Waits until the page has drawn what it shows, and has run the effects that follow. */
export const drawn = (page: Page): Promise<unknown> =>
  page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))));

/**
 * From now on, what the page shows for a few seconds stays, however slow the machine is, until the returned function is
 * called. Holds back timers of these lengths, or without any, all of two seconds and more.
 */
export async function holdTimers(page: Page, ...lengths: number[]): Promise<() => Promise<void>> {
  await page.evaluate((lengths) => {
    const held: (() => void)[] = [];
    const start = window.setTimeout;
    const isHeld = (ms: number) => (lengths.length > 0 ? lengths.includes(ms) : ms >= 2_000);
    const hold = (run: () => void, ms = 0, ...rest: unknown[]) => {
      if (!isHeld(ms)) return start(run, ms, ...rest);
      held.push(run);
      // No timer has this id.
      return 0;
    };
    Object.assign(window, { held, setTimeout: hold });
  }, lengths);
  return () =>
    page.evaluate(() => {
      for (const run of (window as unknown as { held: (() => void)[] }).held.splice(0)) run();
    });
}
