/** The timers of a page. */
import type { BrowserDevice } from '../../support/page.ts';

/**
 * Holds back the timers of the page that have one of these lengths, until the returned function runs them: on a busy
 * machine, a message that is shown for seconds could be gone before a test looks for it.
 */
export async function holdTimers({ page }: BrowserDevice, ...lengths: number[]): Promise<() => Promise<void>> {
  await page.evaluate((lengths) => {
    const held: (() => void)[] = [];
    const start = window.setTimeout;
    const hold = (run: () => void, ms = 0, ...rest: unknown[]) => {
      if (!lengths.includes(ms)) return start(run, ms, ...rest);
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
